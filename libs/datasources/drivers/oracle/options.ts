import type { OraclePlace } from './descriptor.js';
import type { OracleUrl } from './url.js';

/** Everything a connection needs but the credential, built once for save, test and connect (06 §2). */
export interface OracleOptions extends OraclePlace {
  /** Milliseconds; 0 = only the pool's own limit. */
  connectTimeoutMs: number;
  /** Milliseconds a round trip may take; 0 = no limit. */
  readTimeoutMs: number;
  /** A certificate of a TCPS server carries the host's name, or the one the descriptor states. */
  matchesCertificate: boolean;
}

export function oracleOptions(url: OracleUrl, properties: ReadonlyMap<string, string>): OracleOptions {
  const { parameters, ...place } = url;
  const setting = (key: string): string | undefined => parameters.get(key) ?? properties.get(key);
  return {
    ...place,
    connectTimeoutMs: Number(setting('oracle.net.CONNECT_TIMEOUT') ?? 0),
    readTimeoutMs: Number(setting('oracle.jdbc.ReadTimeout') ?? 0),
    matchesCertificate: /^(?:true|on|yes)$/i.test(setting('oracle.net.ssl_server_dn_match') ?? 'true'),
  };
}

/** The full descriptor that one host is dialled with. */
export function descriptorFor(
  { target, server, certificateName, matchesCertificate }: OracleOptions,
  { host, port, secure }: { host: string; port: number; secure: boolean },
): string {
  const name = 'service' in target ? `(SERVICE_NAME=${target.service})` : `(SID=${target.sid})`;
  const kind = server === null ? '' : `(SERVER=${server})`;
  const identity = certificateName === null ? '' : `(SSL_SERVER_CERT_DN="${certificateName}")`;
  const security = secure ? `(SECURITY=(SSL_SERVER_DN_MATCH=${matchesCertificate ? 'ON' : 'OFF'})${identity})` : '';
  const address = `(ADDRESS=(PROTOCOL=${secure ? 'TCPS' : 'TCP'})(HOST=${host})(PORT=${port}))`;
  return `(DESCRIPTION=${address}(CONNECT_DATA=${name}${kind})${security})`;
}
