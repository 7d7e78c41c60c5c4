import { cancelled, DriverFailure } from '../driver-failure.js';
import type { AddressCheck } from '../tcp.js';
import type { OracleLibrary, RawConnection } from './client.js';
import { OracleConnection } from './connection.js';
import type { OracleHost } from './descriptor.js';
import { loginFailure, oracleFailure } from './failure.js';
import { descriptorFor, type OracleOptions } from './options.js';
import { OracleSession } from './session.js';

export interface OracleLogin {
  username: string;
  secret: string;
}

/** Text forms that are the same on every server, and moments in UTC (01 §6.6). */
const SETTINGS = [
  `ALTER SESSION SET TIME_ZONE = 'UTC'`,
  `ALTER SESSION SET NLS_NUMERIC_CHARACTERS = '.,'`,
  `ALTER SESSION SET NLS_DATE_FORMAT = 'YYYY-MM-DD HH24:MI:SS'`,
  `ALTER SESSION SET NLS_TIMESTAMP_FORMAT = 'YYYY-MM-DD HH24:MI:SS.FF6'`,
];

/** The library ends a login at nobody's word but its own clock: until then an abandoned one keeps its socket. */
const LONGEST_LOGIN_MS = 60_000;

/** Tries the hosts in order until one takes the login. Rejects with the last host's failure. */
export async function openOracle(
  library: OracleLibrary,
  options: OracleOptions,
  as: OracleLogin,
  check: AddressCheck,
  signal: AbortSignal,
): Promise<OracleConnection> {
  let last: unknown;
  for (const host of options.hosts) {
    if (signal.aborted) throw cancelled(signal);
    try {
      return await openHost(library, options, host, as, check, signal);
    } catch (error) {
      if (!(error instanceof DriverFailure)) throw error;
      last = error;
    }
  }
  throw signal.aborted ? cancelled(signal) : last;
}

async function openHost(
  library: OracleLibrary,
  options: OracleOptions,
  target: OracleHost,
  as: OracleLogin,
  check: AddressCheck,
  signal: AbortSignal,
): Promise<OracleConnection> {
  const patience =
    options.connectTimeoutMs > 0 ? AbortSignal.any([signal, AbortSignal.timeout(options.connectTimeoutMs)]) : signal;
  const { address } = await check(target.host, target.port);
  // A certificate names the host: over TLS the name is dialled, right behind its check.
  const host = target.secure ? target.host : address;
  const login = library.getConnection({
    user: as.username,
    password: as.secret,
    connectString: descriptorFor(options, { ...target, host }),
    externalAuth: false,
    events: false,
    stmtCacheSize: 0,
    connectTimeout: Math.ceil((options.connectTimeoutMs > 0 ? options.connectTimeoutMs : LONGEST_LOGIN_MS) / 1000),
  });
  let session: OracleSession | undefined;
  try {
    session = new OracleSession(await within(login, library, patience), library);
    for (const setting of SETTINGS) await session.call((raw) => raw.execute(setting, {}, {}));
    if (options.readTimeoutMs > 0) limitRoundTrips(session.raw, options.readTimeoutMs);
    return new OracleConnection(session);
  } catch (error) {
    session?.destroy();
    if (signal.aborted) throw cancelled(signal);
    if (!patience.aborted) throw loginFailure(oracleFailure(error));
    throw new DriverFailure('connection', 'The login took too long.', { driverCode: 'ETIMEDOUT', cause: error });
  }
}

/** A login that comes after its time is cut as soon as it is there. */
async function within(
  login: Promise<RawConnection>,
  library: OracleLibrary,
  signal: AbortSignal,
): Promise<RawConnection> {
  return await new Promise<RawConnection>((resolve, reject) => {
    const onAbort = (): void => {
      login.then(
        (late) => library.cut(late),
        () => undefined,
      );
      reject(cancelled(signal));
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    login.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function limitRoundTrips(raw: RawConnection, milliseconds: number): void {
  (raw as RawConnection & { callTimeout: number }).callTimeout = milliseconds;
}
