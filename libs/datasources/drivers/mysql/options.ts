import type { HostPort } from '../../properties/url-defect.js';
import { SSL_MODES, type MysqlSslMode } from './properties.js';
import type { MysqlUrl } from './url.js';

/** Everything a connection needs but the credential, built once for save, test and connect (06 §2). */
export interface MysqlOptions {
  host: HostPort;
  database: string | null;
  sslMode: MysqlSslMode;
  /** Milliseconds; 0 = only the pool's own limit. */
  connectTimeoutMs: number;
  /** Milliseconds the server may stay silent while it owes an answer; 0 = no limit. */
  socketTimeoutMs: number;
  /** TINYINT(1) is a BOOLEAN. */
  tinyIsBoolean: boolean;
}

/** From a parsed URL and checked properties; a name given in the URL is not given in the properties. */
export function mysqlOptions(url: MysqlUrl, properties: ReadonlyMap<string, string>): MysqlOptions {
  const setting = (key: string): string | undefined => url.parameters.get(key) ?? properties.get(key);
  return {
    host: url.host,
    database: url.database,
    sslMode: sslModeOf(setting('sslMode'), setting('useSSL')),
    connectTimeoutMs: Number(setting('connectTimeout') ?? 0),
    socketTimeoutMs: Number(setting('socketTimeout') ?? 0),
    tinyIsBoolean: setting('tinyInt1isBit') !== 'false',
  };
}

/** Unset = PREFERRED; the older `useSSL` never verified a certificate (06 §4). */
function sslModeOf(mode: string | undefined, useSsl: string | undefined): MysqlSslMode {
  const known = mode === undefined ? undefined : SSL_MODES.get(mode);
  if (known) return known;
  if (useSsl === undefined) return 'preferred';
  return useSsl === 'true' ? 'required' : 'disabled';
}
