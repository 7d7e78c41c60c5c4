import type { SslMode } from './dial.js';
import { parseStartupOptions, type TargetServerType } from './properties.js';
import type { PostgresUrl } from './url.js';

/** Everything a connection needs but the credential, built once for save, test and connect (06 §2). */
export interface PostgresOptions {
  hosts: PostgresUrl['hosts'];
  database: string | null;
  sslMode: SslMode;
  /** Path of a PEM file under the file roots or /etc/ssl, read at each connect. */
  sslRootCertificate: string | null;
  applicationName: string;
  tcpKeepAlive: boolean;
  /** Milliseconds; 0 = only the pool's own limit. */
  connectTimeoutMs: number;
  loginTimeoutMs: number;
  socketTimeoutMs: number;
  targetServerType: TargetServerType;
  startupOptions: string;
}

/** From a parsed URL and checked properties; a name given in the URL is not given in the properties. */
export function postgresOptions(url: PostgresUrl, properties: ReadonlyMap<string, string>): PostgresOptions {
  const setting = (key: string): string | undefined => url.parameters.get(key) ?? properties.get(key);
  const seconds = (key: string): number => Number(setting(key) ?? 0) * 1000;
  return {
    hosts: url.hosts,
    database: url.database,
    sslMode: sslModeOf(setting('sslmode'), setting('ssl')),
    sslRootCertificate: setting('sslrootcert') ?? null,
    applicationName: setting('ApplicationName') ?? 'penstock',
    tcpKeepAlive: setting('tcpKeepAlive') !== 'false',
    connectTimeoutMs: seconds('connectTimeout'),
    loginTimeoutMs: seconds('loginTimeout'),
    socketTimeoutMs: seconds('socketTimeout'),
    targetServerType: (setting('targetServerType') ?? 'any') as TargetServerType,
    startupOptions: startupOptionsOf(setting('options'), setting('currentSchema')),
  };
}

/** Unset = prefer; `ssl=true` alone = verify-full (06 §4). `allow` behaves as `prefer`. */
function sslModeOf(mode: string | undefined, ssl: string | undefined): SslMode {
  if (mode === undefined) return ssl === 'true' ? 'verify-full' : 'prefer';
  return mode === 'allow' ? 'prefer' : (mode as SslMode);
}

function startupOptionsOf(options: string | undefined, currentSchema: string | undefined): string {
  const settings = parseStartupOptions(options ?? '') ?? new Map<string, string>();
  if (currentSchema !== undefined) settings.set('search_path', currentSchema);
  return [...settings].map(([name, value]) => `-c ${name}=${value.replace(/[\\\s]/g, '\\$&')}`).join(' ');
}
