import { isAbsolute } from 'node:path';

import { percentDecode, UrlDefect } from '../properties/url-defect.js';

export interface FileUrl {
  /** Null = in memory. */
  path: string | null;
  /** File URLs take no parameters. */
  parameters: ReadonlyMap<string, string>;
}

const NONE: ReadonlyMap<string, string> = new Map();

/** `:memory:` or an absolute path; `emptyIsMemory` where the engine reads nothing as memory. */
export function parseFileUrl(rest: string, emptyIsMemory: boolean): FileUrl {
  if (rest === ':memory:' || (rest === '' && emptyIsMemory)) return { path: null, parameters: NONE };
  if (/[?;#]/.test(rest)) throw new UrlDefect('parameters', 'This URL takes no parameters; use properties.');
  const path = percentDecode(rest);
  if (!isAbsolute(path)) throw new UrlDefect('path', 'The URL needs :memory: or an absolute path.');
  if (path.split('/').includes('..')) throw new UrlDefect('path', 'The path in the URL climbs with "..".');
  return { path, parameters: NONE };
}
