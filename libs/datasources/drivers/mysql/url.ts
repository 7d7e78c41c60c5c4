import { parseHostPort, parseQuery, percentDecode, UrlDefect, type HostPort } from '../../properties/url-defect.js';

export interface MysqlUrl {
  host: HostPort;
  /** Null = none chosen. */
  database: string | null;
  parameters: ReadonlyMap<string, string>;
}

const DEFAULT_PORT = 3306;
/** Characters of an identifier in MySQL. */
const MAX_DATABASE = 64;

/**
 * The part of a JDBC URL after `jdbc:mysql:` or `jdbc:mariadb:` — `//h[:3306]/[db][?…]` (06 §2). Forms over several
 * servers are defects: this driver talks to one.
 *
 * @throws UrlDefect
 */
export function parseMysqlUrl(rest: string, prefix: string): MysqlUrl {
  if (prefix.includes('+srv') || /^[a-z]+:/i.test(rest)) {
    throw new UrlDefect('cluster_form', 'Load-balanced, replicated and SRV forms are not taken; name one server.');
  }
  const question = rest.indexOf('?');
  const address = question < 0 ? rest : rest.slice(0, question);
  const queryText = question < 0 ? '' : rest.slice(question + 1);
  if (rest.includes('#')) throw new UrlDefect('fragment', 'A JDBC URL has no fragment; encode # as %23.');
  if (!address.startsWith('//')) throw new UrlDefect('host', 'The URL names no host; it begins with //host/.');
  const slash = address.indexOf('/', 2);
  const authority = slash < 0 ? address.slice(2) : address.slice(2, slash);
  if (authority.includes('@')) {
    throw new UrlDefect('credential_in_url', 'The URL carries a user or password; use the credential instead.');
  }
  if (authority.includes(',') || authority.startsWith('(') || /^address=/i.test(authority)) {
    throw new UrlDefect('cluster_form', 'Load-balanced and replicated forms are not taken; name one server.');
  }
  if (slash < 0) throw new UrlDefect('path', 'The URL needs a slash after its host, then the database name, if any.');
  return {
    host: parseHostPort(authority === '' ? 'localhost' : authority, DEFAULT_PORT),
    database: databaseName(address.slice(slash + 1)),
    parameters: parseQuery(queryText),
  };
}

function databaseName(text: string): string | null {
  if (text.includes('/')) throw new UrlDefect('path', 'The database name in the URL holds a slash; encode it as %2F.');
  const name = percentDecode(text);
  if ([...name].length > MAX_DATABASE) throw new UrlDefect('path', 'The database name is longer than 64 characters.');
  return name === '' ? null : name;
}
