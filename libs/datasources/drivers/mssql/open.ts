import { readRoots } from '../postgres/root-certificates.js';
import { cancelled, DriverFailure } from '../driver-failure.js';
import { dialTcp, type AddressCheck } from '../tcp.js';
import type { RawConnection } from './client.js';
import { MssqlConnection } from './connection.js';
import { loginFailure } from './failure.js';
import type { MssqlLibrary } from './library.js';
import type { MssqlOptions } from './options.js';
import { MssqlSession } from './session.js';

export interface MssqlLogin {
  username: string;
  secret: string;
  /** The secret is an access token of the directory, not a password. */
  isToken: boolean;
  isReadonly: boolean;
}

/** The port of SQL Server's browser service, which a named instance is asked of. */
const BROWSER_PORT = 1434;
/** The library wants some limit; the pool's own is shorter. */
const LONGEST_LOGIN_MS = 600_000;

/** Opens a session that is set up as 01 §6.5 says. Rejects with DriverFailure. */
export async function openMssql(
  library: MssqlLibrary,
  options: MssqlOptions,
  as: MssqlLogin,
  check: AddressCheck,
  signal: AbortSignal,
): Promise<MssqlConnection> {
  const patience =
    options.loginTimeoutMs > 0 ? AbortSignal.any([signal, AbortSignal.timeout(options.loginTimeoutMs)]) : signal;
  try {
    const port = options.port ?? (await instancePort(library, options, check, patience));
    return new MssqlConnection(await logIn(library, { ...options, port }, as, check, patience));
  } catch (error) {
    if (signal.aborted) throw cancelled(signal);
    if (!patience.aborted) throw loginFailure(error);
    throw new DriverFailure('connection', 'The login took too long.', { driverCode: 'ETIMEDOUT', cause: error });
  }
}

async function instancePort(
  library: MssqlLibrary,
  { host, instance }: MssqlOptions,
  check: AddressCheck,
  signal: AbortSignal,
): Promise<number> {
  const { address: server } = await check(host, BROWSER_PORT);
  return await library.instanceLookup({ server, instanceName: instance ?? '', timeout: 5000, signal });
}

async function logIn(
  library: MssqlLibrary,
  options: MssqlOptions & { port: number },
  as: MssqlLogin,
  check: AddressCheck,
  signal: AbortSignal,
): Promise<MssqlSession> {
  const { host, port } = options;
  const ca = options.certificate === null ? undefined : await readRoots(options.certificate);
  const socket = await dialTcp({ host, port, keepAlive: true }, check, signal);
  if (options.socketTimeoutMs > 0) {
    socket.setTimeout(options.socketTimeoutMs, () => socket.destroy(silent(options.socketTimeoutMs)));
  }
  const raw: RawConnection = new library.Connection({
    server: host,
    authentication: as.isToken
      ? { type: 'azure-active-directory-access-token', options: { token: as.secret } }
      : { type: 'default', options: { userName: as.username, password: as.secret } },
    options: {
      port,
      // Where a server sends this login on to (a replica for readers) is judged like the server itself.
      connector: async () => {
        const { routingData: onward } = raw;
        return onward
          ? await dialTcp({ host: onward.server, port: onward.port, keepAlive: true }, check, signal)
          : socket;
      },
      encrypt: options.encrypt,
      trustServerCertificate: false,
      ...(options.certificateName === null ? {} : { serverName: options.certificateName }),
      ...(ca === undefined ? {} : { cryptoCredentialsDetails: { ca } }),
      ...(options.database === null ? {} : { database: options.database }),
      appName: options.applicationName,
      readOnlyIntent: options.readOnlyIntent || as.isReadonly,
      packetSize: options.packetSize,
      connectTimeout: LONGEST_LOGIN_MS,
      requestTimeout: 0,
      cancelTimeout: 2000,
      useUTC: true,
      useColumnNames: false,
      abortTransactionOnError: true,
      maxRetriesOnTransientErrors: 0,
    },
  });
  const session = new MssqlSession(raw, library);
  const onAbort = (): void => session.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      raw.connect((error) => (error ? reject(loginFailure(error)) : resolve()));
    });
    return session;
  } catch (error) {
    session.destroy();
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function silent(milliseconds: number): DriverFailure {
  return new DriverFailure('connection', `The server sent nothing for ${milliseconds} ms.`, {
    driverCode: 'ETIMEDOUT',
  });
}
