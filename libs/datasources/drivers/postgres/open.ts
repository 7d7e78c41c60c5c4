import { cancelled, DriverFailure } from '../driver-failure.js';
import { Canceller } from './canceller.js';
import { PostgresConnection } from './connection.js';
import type { DialTarget } from './dial.js';
import type { AddressCheck } from '../tcp.js';
import { login } from './login.js';
import type { PostgresOptions } from './options.js';
import { readRoots } from './root-certificates.js';
import type { TypeNames } from './type-names.js';

export interface PostgresLogin {
  username: string;
  secret: string;
}

/** What a server may be for a `targetServerType`; the second pass takes any server that answers. */
const PASSES: Readonly<Record<PostgresOptions['targetServerType'], readonly ('any' | 'primary' | 'secondary')[]>> = {
  any: ['any'],
  primary: ['primary'],
  master: ['primary'],
  secondary: ['secondary'],
  slave: ['secondary'],
  preferPrimary: ['primary', 'any'],
  preferSecondary: ['secondary', 'any'],
  preferSlave: ['secondary', 'any'],
};

/**
 * Tries the hosts in order until one takes the login and is of the wanted kind. Rejects with the last host's failure.
 */
export async function openPostgres(
  options: PostgresOptions,
  as: PostgresLogin,
  types: TypeNames,
  check: AddressCheck,
  signal: AbortSignal,
): Promise<PostgresConnection> {
  const overall = within(signal, options.loginTimeoutMs);
  const rootCertificate = options.sslRootCertificate === null ? undefined : await readRoots(options.sslRootCertificate);
  let last: unknown;
  for (const wanted of PASSES[options.targetServerType]) {
    for (const { host, port } of options.hosts) {
      if (overall.aborted) throw abortFailure(signal, last);
      const target: DialTarget = {
        host,
        port,
        sslMode: options.sslMode,
        tcpKeepAlive: options.tcpKeepAlive,
        ...(rootCertificate === undefined ? {} : { rootCertificate }),
      };
      try {
        return await openHost(target, wanted, options, as, types, check, within(overall, options.connectTimeoutMs));
      } catch (error) {
        if (!(error instanceof DriverFailure)) throw error;
        last = error.kind === 'cancelled' && !overall.aborted ? timedOut(error) : error;
      }
    }
  }
  throw overall.aborted ? abortFailure(signal, last) : last;
}

async function openHost(
  target: DialTarget,
  wanted: 'any' | 'primary' | 'secondary',
  options: PostgresOptions,
  as: PostgresLogin,
  types: TypeNames,
  check: AddressCheck,
  signal: AbortSignal,
): Promise<PostgresConnection> {
  const loginAs = {
    database: options.database ?? as.username,
    user: as.username,
    password: as.secret,
    applicationName: options.applicationName,
    startupOptions: options.startupOptions,
  };
  const { wire, processId, secretKey } = await login(target, loginAs, check, signal);
  const connection = new PostgresConnection(wire, new Canceller(target, check, processId, secretKey), types);
  try {
    if (options.socketTimeoutMs > 0) wire.onSocketTimeout(options.socketTimeoutMs);
    await connection.stoppable(connection.setUp(), signal);
    if (wanted !== 'any') await refuseOtherKind(connection, wanted, signal);
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

async function refuseOtherKind(connection: PostgresConnection, wanted: string, signal: AbortSignal): Promise<void> {
  const { rows } = await connection.stoppable(connection.control('SELECT pg_catalog.pg_is_in_recovery()'), signal);
  const kind = rows[0]?.[0] === 't' ? 'secondary' : 'primary';
  if (kind !== wanted) {
    throw new DriverFailure('connection', `The server is a ${kind}, and targetServerType asks for a ${wanted}.`, {
      driverCode: 'WRONG_SERVER_TYPE',
    });
  }
}

function within(signal: AbortSignal, milliseconds: number): AbortSignal {
  return milliseconds > 0 ? AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]) : signal;
}

/** The caller's own abort is a cancel; a timeout of the datasource's own is a failed connection. */
function abortFailure(signal: AbortSignal, last: unknown): DriverFailure {
  if (signal.aborted) return cancelled(signal);
  return last instanceof DriverFailure && last.kind !== 'cancelled' ? last : timedOut(last);
}

function timedOut(cause: unknown): DriverFailure {
  return new DriverFailure('connection', 'The login took too long.', { driverCode: 'ETIMEDOUT', cause });
}
