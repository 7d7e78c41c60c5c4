import { quoteIdentifier } from '#libs/typesystem';

import { cancelled, DriverFailure } from '../driver-failure.js';
import { Canceller } from '../postgres/canceller.js';
import type { DialTarget } from '../postgres/dial.js';
import { login } from '../postgres/login.js';
import { readRoots } from '../postgres/root-certificates.js';
import type { AddressCheck } from '../tcp.js';
import { H2Connection } from './connection.js';
import { h2Failure, h2LoginFailure } from './failure.js';
import type { H2Options } from './options.js';

export interface H2Login {
  username: string;
  secret: string;
  /** Asks the engine for a read-only database. */
  isReadonly: boolean;
}

/** The whole result is never gathered in the server first: rows come as they are found. */
const SETTINGS = "SET TIME ZONE 'UTC'; SET LAZY_QUERY_EXECUTION 1; SET QUERY_TIMEOUT 0";

/** Opens a session. Rejects with DriverFailure. */
export async function openH2(
  options: H2Options,
  as: H2Login,
  check: AddressCheck,
  signal: AbortSignal,
): Promise<H2Connection> {
  const limit = Math.min(
    ...[options.connectTimeoutMs, options.loginTimeoutMs].filter((milliseconds) => milliseconds > 0),
  );
  const patience = Number.isFinite(limit) ? AbortSignal.any([signal, AbortSignal.timeout(limit)]) : signal;
  const { host, port } = options.host;
  const target: DialTarget = {
    host,
    port,
    sslMode: options.sslMode,
    tcpKeepAlive: options.tcpKeepAlive,
    ...(options.sslRootCertificate === null ? {} : { rootCertificate: await readRoots(options.sslRootCertificate) }),
  };
  const loginAs = {
    // The mode holds for the database, once the first connection of all opens it (06 §2).
    database: as.isReadonly ? `${options.database};ACCESS_MODE_DATA=r` : options.database,
    user: as.username,
    password: as.secret,
    applicationName: 'penstock',
    startupOptions: '',
  };
  let connection: H2Connection | undefined;
  try {
    const { wire, processId, secretKey } = await login(target, loginAs, check, patience);
    connection = new H2Connection(wire, new Canceller(target, check, processId, secretKey), settingsOf(options));
    if (options.socketTimeoutMs > 0) wire.onSocketTimeout(options.socketTimeoutMs);
    await connection.stoppable(connection.control(settingsOf(options)), patience);
    return connection;
  } catch (error) {
    connection?.destroy();
    if (signal.aborted) throw cancelled(signal);
    if (!patience.aborted) throw h2LoginFailure(h2Failure(error));
    throw new DriverFailure('connection', 'The login took too long.', { driverCode: 'ETIMEDOUT', cause: error });
  }
}

function settingsOf({ currentSchema }: H2Options): string {
  return currentSchema === null ? SETTINGS : `${SETTINGS}; SET SCHEMA ${quoteIdentifier('H2', currentSchema)}`;
}
