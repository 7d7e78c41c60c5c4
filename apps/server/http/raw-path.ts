import { PenstockError } from '#libs/kernel';

/**
 * What a raw URL is, decided once, before routing and byte-exact; every guard reads this and never the path again
 * (a second reading with other rules is how path-based security breaks).
 */
export type PathClass =
  | 'rest'
  | 'endpoint'
  | 'graphql'
  | 'graphql_stream'
  | 'login'
  | 'logout'
  | 'workspace_switch'
  | 'public_rest'
  | 'probe'
  | 'docs'
  | 'asset'
  | 'page';

export interface ClassifiedPath {
  class: PathClass;
  /** Raw path, percent-encoding kept, without the query. */
  path: string;
  /** Raw query without `?`, or empty. */
  query: string;
}

/** A URL longer than this is refused (03 §1). */
const MAX_URL_BYTES = 8192;

const EXACT: Record<string, PathClass> = {
  '/graphql': 'graphql',
  '/graphql/stream': 'graphql_stream',
  '/login': 'login',
  '/logout': 'logout',
  '/workspace/switch': 'workspace_switch',
  '/health': 'probe',
  '/ready': 'probe',
  '/info': 'probe',
  '/favicon.ico': 'asset',
  '/robots.txt': 'asset',
  '/api/v1/auth/providers': 'public_rest',
};

const PREFIXES: readonly [string, PathClass][] = [
  ['/api/v1/', 'rest'],
  ['/api/x/', 'endpoint'],
  ['/assets/', 'asset'],
  ['/docs/', 'docs'],
];

export function classifyPath(rawUrl: string): ClassifiedPath {
  if (Buffer.byteLength(rawUrl) > MAX_URL_BYTES) throw new PenstockError('request.uri_too_long');
  const mark = rawUrl.indexOf('?');
  const path = mark < 0 ? rawUrl : rawUrl.slice(0, mark);
  const query = mark < 0 ? '' : rawUrl.slice(mark + 1);
  refuseAmbiguous(path);
  return { class: EXACT[path] ?? PREFIXES.find(([prefix]) => path.startsWith(prefix))?.[1] ?? 'page', path, query };
}

/** Spellings that two parsers may read differently: encoded separators, NUL, backslash, `;`, dot segments. */
function refuseAmbiguous(path: string): void {
  const reason = ambiguity(path);
  if (reason) throw new PenstockError('request.path_invalid', { details: { reason } });
}

function ambiguity(path: string): string | undefined {
  if (!path.startsWith('/')) return 'not_absolute';
  if (/%(2f|5c|00)/i.test(path)) return 'encoded_separator';
  if (/[\\;\u0000-\u001f\u007f]/.test(path)) return 'forbidden_character';
  if (/%(?![0-9a-f]{2})/i.test(path)) return 'percent_encoding';
  for (const segment of path.split('/')) {
    const plain = segment.replace(/%2e/gi, '.');
    if (plain === '.' || plain === '..') return 'dot_segment';
  }
  return undefined;
}
