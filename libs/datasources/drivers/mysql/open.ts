import { isIP } from 'node:net';

import { cancelled, DriverFailure } from '../driver-failure.js';
import { dialTcp, whileWanted, type AddressCheck } from '../tcp.js';
import { mysql2, type Mysql2 } from './client.js';
import { Canceller } from './canceller.js';
import { MysqlConnection } from './connection.js';
import { loginFailure } from './failure.js';
import type { MysqlOptions } from './options.js';
import { MysqlSession } from './session.js';
import { sessionSettings } from './session-settings.js';

export interface MysqlLogin {
  username: string;
  secret: string;
}

/** Opens a session that is set up as 01 §6.2 says. Rejects with DriverFailure. */
export async function openMysql(
  options: MysqlOptions,
  as: MysqlLogin,
  check: AddressCheck,
  signal: AbortSignal,
): Promise<MysqlConnection> {
  const logIn = (within: AbortSignal): Promise<MysqlSession> => logInto(options, as, check, within);
  const patience = limited(signal, options.connectTimeoutMs);
  let session: MysqlSession | undefined;
  try {
    session = await logIn(patience);
    const settings = await sessionSettings(session);
    if (options.socketTimeoutMs > 0) session.onSilence(options.socketTimeoutMs);
    return new MysqlConnection(session, settings, new Canceller(logIn, session.threadId), options.tinyIsBoolean);
  } catch (error) {
    session?.destroy();
    if (signal.aborted) throw cancelled(signal);
    if (!patience.aborted) throw error;
    throw new DriverFailure('connection', 'The login took too long.', { driverCode: 'ETIMEDOUT', cause: error });
  }
}

function limited(signal: AbortSignal, milliseconds: number): AbortSignal {
  return milliseconds > 0 ? AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]) : signal;
}

const NO_TLS = 'HANDSHAKE_NO_SSL_SUPPORT';

/** PREFERRED encrypts wherever the server can. */
async function logInto(
  options: MysqlOptions,
  as: MysqlLogin,
  check: AddressCheck,
  signal: AbortSignal,
): Promise<MysqlSession> {
  const { sslMode } = options;
  if (sslMode === 'disabled') return await attempt(options, as, check, signal, undefined);
  try {
    return await attempt(options, as, check, signal, tlsOptions(options));
  } catch (error) {
    const refused = error instanceof DriverFailure && error.driverCode === NO_TLS;
    if (!refused || sslMode !== 'preferred') throw error;
    return await attempt(options, as, check, signal, undefined);
  }
}

interface TlsOptions {
  rejectUnauthorized: boolean;
  verifyIdentity: boolean;
}

function tlsOptions({ sslMode, host }: MysqlOptions): TlsOptions {
  const verifyIdentity = sslMode === 'verify_identity';
  if (verifyIdentity && isIP(host.host) !== 0) {
    throw new DriverFailure('connection', 'VERIFY_IDENTITY compares a host name; the URL gives an address.', {
      driverCode: 'TLS_IDENTITY',
    });
  }
  return { rejectUnauthorized: verifyIdentity || sslMode === 'verify_ca', verifyIdentity };
}

async function attempt(
  options: MysqlOptions,
  as: MysqlLogin,
  check: AddressCheck,
  signal: AbortSignal,
  ssl: TlsOptions | undefined,
): Promise<MysqlSession> {
  const library = await mysql2();
  const { host, port } = options.host;
  const socket = await dialTcp({ host, port, keepAlive: true }, check, signal);
  const raw = library.createConnection({
    stream: () => socket,
    host,
    port,
    user: as.username,
    password: as.secret,
    ...(options.database === null ? {} : { database: options.database }),
    ...(ssl ? { ssl } : {}),
    ...authentication(library, ssl),
    connectTimeout: 0,
    multipleStatements: false,
    // A file of ours is never sent, and names of functions stay free for columns.
    flags: ['-LOCAL_FILES', '-IGNORE_SPACE', '-ODBC'],
    rowsAsArray: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    jsonStrings: true,
    timezone: 'Z',
    maxPreparedStatements: 1,
    connectAttributes: { program_name: 'penstock' },
  });
  const session = new MysqlSession(raw, library);
  try {
    await whileWanted(
      socket,
      signal,
      () =>
        new Promise<void>((resolve, reject) => {
          raw.connect((error) => (error ? reject(loginFailure(error)) : resolve()));
        }),
    );
    return session;
  } catch (error) {
    session.destroy();
    throw error;
  }
}

/**
 * Over an unencrypted connection the password is not given to whoever answers with a key of its own
 * (`allowPublicKeyRetrieval`, 06 §4); in clear it is sent only to a server whose certificate was verified.
 */
function authentication(library: Mysql2, ssl: TlsOptions | undefined): Record<string, unknown> {
  if (ssl) return { enableCleartextPlugin: ssl.rejectUnauthorized };
  const onServerPublicKey = (): void => {
    throw new DriverFailure('connection', 'This login needs TLS: the server offers a key that nobody vouches for.', {
      driverCode: 'PUBLIC_KEY_RETRIEVAL',
    });
  };
  const names = ['caching_sha2_password', 'sha256_password'];
  return {
    authPlugins: Object.fromEntries(names.map((name) => [name, library.authPlugins[name]?.({ onServerPublicKey })])),
  };
}
