import { PenstockError } from '#libs/kernel';

/**
 * What a raw URL is, decided once, before routing and byte-exact; every guard reads this and never the path again
 * (a second reading with other rules is how path-based security breaks).
 */
export type PathClass =
  | 'rest'
  | 'promotion'
  | 'endpoint'
  | 'graphql'
  | 'graphql_stream'
  | 'mcp'
  | 'login'
  | 'oidc'
  | 'password_reset'
  | 'logout'
  | 'workspace_switch'
  | 'public_rest'
  | 'probe'
  | 'docs'
  | 'asset'
  | 'public_page'
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

const EXACT: ReadonlyMap<string, PathClass> = new Map([
  ['/graphql', 'graphql'],
  ['/graphql/stream', 'graphql_stream'],
  ['/mcp', 'mcp'],
  ['/login', 'login'],
  ['/logout', 'logout'],
  ['/workspace/switch', 'workspace_switch'],
  ['/health', 'probe'],
  ['/ready', 'probe'],
  ['/info', 'probe'],
  ['/favicon.ico', 'asset'],
  ['/robots.txt', 'asset'],
  ['/', 'public_page'],
  ['/reset-password', 'public_page'],
  ['/skill.md', 'public_page'],
  ['/llms.txt', 'public_page'],
  ['/api/v1/promotion', 'promotion'],
  ['/api/v1/auth/providers', 'public_rest'],
  ['/api/v1/auth/password-reset/request', 'password_reset'],
  ['/api/v1/auth/password-reset/confirm', 'password_reset'],
]);

const PREFIXES: readonly [string, PathClass][] = [
  ['/api/v1/promotion/', 'promotion'],
  ['/api/v1/', 'rest'],
  ['/api/x/', 'endpoint'],
  ['/assets/', 'asset'],
  ['/docs/', 'docs'],
  ['/skill/', 'public_page'],
  ['/login/oauth2/code/', 'oidc'],
  ['/oauth2/authorization/', 'oidc'],
];

/** The classes of the public list (04 §2): no credential is asked for, and none is looked at. */
const PUBLIC: ReadonlySet<PathClass> = new Set([
  'login',
  'oidc',
  'password_reset',
  'public_rest',
  'probe',
  'docs',
  'asset',
  'public_page',
]);

export function isPublic(pathClass: PathClass): boolean {
  return PUBLIC.has(pathClass);
}

/** Roots that answer machines: a browser that strays there is told so in JSON, never sent to a page (03 §1). */
const MACHINE_ROOT =
  /^\/(api|graphql|mcp|docs|health|ready|info|logout|oauth2|login\/oauth2|skill|skill\.md|promotion|workspace|assets|\.well-known)(\/|$)/;

/** Whether a path may be a page of the console. */
export function isPagePath({ class: pathClass, path }: ClassifiedPath): boolean {
  return pathClass === 'page' && !MACHINE_ROOT.test(path);
}

/**
 * @throws PenstockError `request.uri_too_long`; `request.path_invalid` for spellings that two parsers may read
 *   differently: encoded separators, NUL, backslash, `;`, dot segments, escapes that are no UTF-8
 */
export function classifyPath(rawUrl: string): ClassifiedPath {
  if (Buffer.byteLength(rawUrl) > MAX_URL_BYTES) throw new PenstockError('request.uri_too_long');
  const mark = rawUrl.indexOf('?');
  const path = mark < 0 ? rawUrl : rawUrl.slice(0, mark);
  const query = mark < 0 ? '' : rawUrl.slice(mark + 1);
  const reason = ambiguity(path) ?? (/[^\x21-\x7e]/.test(query) ? 'forbidden_character' : undefined);
  if (reason) throw new PenstockError('request.path_invalid', { details: { reason } });
  return { class: EXACT.get(path) ?? prefixClass(path) ?? 'page', path, query };
}

function prefixClass(path: string): PathClass | undefined {
  return PREFIXES.find(([prefix]) => path.startsWith(prefix))?.[1];
}

function ambiguity(path: string): string | undefined {
  if (!path.startsWith('/')) return 'not_absolute';
  if (/%(2f|5c|00)/i.test(path)) return 'encoded_separator';
  if (/[\\;]|[^\x21-\x7e]/.test(path)) return 'forbidden_character';
  if (!isDecodable(path)) return 'percent_encoding';
  for (const segment of path.split('/')) {
    const plain = segment.replace(/%2e/gi, '.');
    if (plain === '.' || plain === '..') return 'dot_segment';
  }
  return undefined;
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}
