import { ENCRYPT } from './properties.js';
import type { MssqlUrl } from './url.js';

/** Everything a connection needs but the credential, built once for save, test and connect (06 §2). */
export interface MssqlOptions {
  host: string;
  /** Null = ask the instance's browser service. */
  port: number | null;
  instance: string | null;
  database: string | null;
  encrypt: true | false | 'strict';
  /** Name the certificate must carry instead of the host's. */
  certificateName: string | null;
  /** Path of a PEM file under the file roots or /etc/ssl, read at each connect. */
  certificate: string | null;
  applicationName: string;
  readOnlyIntent: boolean;
  /** Milliseconds; 0 = only the pool's own limit. */
  loginTimeoutMs: number;
  /** Milliseconds the server may stay silent while it owes an answer; 0 = no limit. */
  socketTimeoutMs: number;
  packetSize: number;
}

const PACKET_SIZE = 8000;

export function mssqlOptions(url: MssqlUrl, properties: ReadonlyMap<string, string>): MssqlOptions {
  const setting = (key: string): string | undefined => url.parameters.get(key) ?? properties.get(key);
  return {
    host: url.host,
    port: url.port,
    instance: url.instance,
    database: setting('databaseName') ?? null,
    encrypt: ENCRYPT.get(setting('encrypt') ?? 'true') ?? true,
    certificateName: setting('hostNameInCertificate') ?? null,
    certificate: setting('serverCertificate') ?? null,
    applicationName: setting('applicationName') ?? 'penstock',
    readOnlyIntent: setting('applicationIntent')?.toLowerCase() === 'readonly',
    loginTimeoutMs: Number(setting('loginTimeout') ?? 0) * 1000,
    socketTimeoutMs: Number(setting('socketTimeout') ?? 0),
    packetSize: Number(setting('packetSize') ?? PACKET_SIZE),
  };
}
