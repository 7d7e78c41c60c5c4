import { parsePostgresUrl } from '../postgres/url.js';
import { postgresOptions, type PostgresOptions } from '../postgres/options.js';
import type { H2Url } from './url.js';

/** What PostgreSQL's protocol needs, and the rest of an H2 connection. */
export interface H2Options extends Pick<
  PostgresOptions,
  'sslMode' | 'sslRootCertificate' | 'tcpKeepAlive' | 'connectTimeoutMs' | 'loginTimeoutMs' | 'socketTimeoutMs'
> {
  host: H2Url['host'];
  database: string;
  /** Schema that unqualified names are looked for in; null = PUBLIC. */
  currentSchema: string | null;
}

export function h2Options(url: H2Url, properties: ReadonlyMap<string, string>): H2Options {
  const { parameters } = url;
  const { sslMode, sslRootCertificate, tcpKeepAlive, connectTimeoutMs, loginTimeoutMs, socketTimeoutMs } =
    postgresOptions({ ...parsePostgresUrl('//localhost/'), parameters }, properties);
  return {
    ...{ sslMode, sslRootCertificate, tcpKeepAlive, connectTimeoutMs, loginTimeoutMs, socketTimeoutMs },
    host: url.host,
    database: url.database,
    currentSchema: parameters.get('currentSchema') ?? properties.get('currentSchema') ?? null,
  };
}
