import { parseHostPort, parseQuery, percentDecode, UrlDefect, type HostPort } from '../../properties/url-defect.js';

export interface PostgresUrl {
  /** In the order they are tried. */
  hosts: readonly [HostPort, ...HostPort[]];
  /** Null = the database named as the user. */
  database: string | null;
  parameters: ReadonlyMap<string, string>;
}

const DEFAULT_PORT = 5432;
/** libpq and pgjdbc try hosts one by one: more than this is a mistake. */
const MAX_HOSTS = 32;

/**
 * The part of a JDBC URL after `jdbc:postgresql:` — `//h[:5432][,h2…]/[db][?…]` or `db[?…]` (06 §2).
 *
 * @throws UrlDefect
 */
export function parsePostgresUrl(rest: string): PostgresUrl {
  const question = rest.indexOf('?');
  const address = question < 0 ? rest : rest.slice(0, question);
  const queryText = question < 0 ? '' : rest.slice(question + 1);
  if (address.includes('#') || queryText.includes('#')) {
    throw new UrlDefect('fragment', 'A JDBC URL has no fragment; encode # as %23.');
  }
  const place = address.startsWith('//') ? parseAuthority(address.slice(2)) : parseOpaque(address);
  return { ...place, parameters: parseQuery(queryText) };
}

function parseAuthority(text: string): Pick<PostgresUrl, 'hosts' | 'database'> {
  const slash = text.indexOf('/');
  const authority = slash < 0 ? text : text.slice(0, slash);
  if (authority.includes('@')) {
    throw new UrlDefect('credential_in_url', 'The URL carries a user or password; use the credential instead.');
  }
  if (slash < 0) throw new UrlDefect('path', 'The URL needs a slash after its hosts, then the database name.');
  const [first, ...others] = authority === '' ? ['localhost'] : authority.split(',');
  if (others.length >= MAX_HOSTS) throw new UrlDefect('host', `The URL names more than ${MAX_HOSTS} hosts.`);
  return {
    hosts: [parseHostPort(first ?? '', DEFAULT_PORT), ...others.map((host) => parseHostPort(host, DEFAULT_PORT))],
    database: databaseName(text.slice(slash + 1)),
  };
}

function parseOpaque(text: string): Pick<PostgresUrl, 'hosts' | 'database'> {
  if (text.includes('@')) {
    throw new UrlDefect('credential_in_url', 'The URL carries a user or password; use the credential instead.');
  }
  if (text.startsWith('/')) throw new UrlDefect('host', 'The URL names no usable host.');
  return { hosts: [{ host: 'localhost', port: DEFAULT_PORT }], database: databaseName(text) };
}

function databaseName(text: string): string | null {
  if (text.includes('/')) throw new UrlDefect('path', 'The database name in the URL holds a slash; encode it as %2F.');
  const name = percentDecode(text);
  if (Buffer.byteLength(name) > 63) throw new UrlDefect('path', 'The database name is longer than 63 bytes.');
  return name === '' ? null : name;
}
