import { parseHostPort, parseQuery, percentDecode, UrlDefect, type HostPort } from '../../properties/url-defect.js';

export interface H2Url {
  host: HostPort;
  /** Name as the server takes it: `shop`, `folder/shop`, or `mem:shop` for one that lives in its memory. */
  database: string;
  parameters: ReadonlyMap<string, string>;
}

const DEFAULT_PORT = 5435;
const MAX_DATABASE = 200;

/**
 * The part of a JDBC URL after `jdbc:h2:` — `pg://h[:5435]/db[?…]`, H2's PostgreSQL-protocol server (06 §2). Every other
 * form needs the engine in this process, which is a Java program.
 *
 * @throws UrlDefect
 */
export function parseH2Url(rest: string): H2Url {
  if (!rest.startsWith('pg://')) {
    throw new UrlDefect(
      'h2_pg_server_required',
      'H2 is reached through its PostgreSQL server: start it with -pg and write jdbc:h2:pg://host:5435/database.',
      {},
      'datasource.driver_not_loaded',
    );
  }
  const address = rest.slice('pg://'.length);
  if (address.includes('#')) throw new UrlDefect('fragment', 'A JDBC URL has no fragment; encode # as %23.');
  const question = address.indexOf('?');
  const place = question < 0 ? address : address.slice(0, question);
  const slash = place.indexOf('/');
  const authority = slash < 0 ? place : place.slice(0, slash);
  if (authority.includes('@')) {
    throw new UrlDefect('credential_in_url', 'The URL carries a user or password; use the credential instead.');
  }
  if (slash < 0) throw new UrlDefect('path', 'The URL needs a slash after its host, then the database name.');
  return {
    host: parseHostPort(authority, DEFAULT_PORT),
    database: databaseName(percentDecode(place.slice(slash + 1))),
    parameters: parseQuery(question < 0 ? '' : address.slice(question + 1)),
  };
}

/**
 * The server puts the name into a URL of its own: a `;` would add settings (INIT runs SQL), and a scheme would make it
 * connect elsewhere.
 */
function databaseName(name: string): string {
  if (name.includes(';')) throw new UrlDefect('settings_in_url', 'Settings behind ";" are not taken in an H2 URL.');
  const bare = name.startsWith('mem:') ? name.slice('mem:'.length) : name;
  if (bare === '' || bare.length > MAX_DATABASE || bare.includes(':') || bare.split('/').includes('..')) {
    throw new UrlDefect('path', 'The URL names no usable database; write its name as the H2 server knows it.');
  }
  return name;
}
