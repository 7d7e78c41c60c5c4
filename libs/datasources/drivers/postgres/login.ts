import type { Socket } from 'node:net';

import { Client } from 'pg';

import { DriverFailure, errnoOf } from '../driver-failure.js';
import { dial, type DialTarget } from './dial.js';
import { asConnectionFailure, whileWanted, type AddressCheck } from '../tcp.js';
import { classify } from './messages.js';
import { PostgresWire } from './wire.js';

export interface Login {
  database: string;
  user: string;
  password: string;
  applicationName: string;
  /** `-c key=value …`, already validated. */
  startupOptions: string;
}

export interface LoggedIn {
  wire: PostgresWire;
  processId: number;
  secretKey: number;
}

/** `pg` records the cancel key on the client; its types leave it out. */
interface KeyedClient extends Client {
  processID: number | null;
  secretKey: number | null;
}

/**
 * Dials the checked address, logs in through `pg` (SCRAM, MD5, clear text) and then takes the socket over for good.
 * Every field is given, so that no PG* variable or .pgpass of the server's own environment leaks into a login.
 */
export async function login(
  target: DialTarget,
  as: Login,
  check: AddressCheck,
  signal: AbortSignal,
): Promise<LoggedIn> {
  const socket = await dial(target, check, signal);
  const client = new Client({
    host: target.host,
    port: target.port,
    database: as.database,
    user: as.user,
    password: as.password,
    application_name: as.applicationName,
    options: as.startupOptions,
    ssl: false,
    stream: () => presentAsNew(socket),
  }) as KeyedClient;
  client.on('error', () => undefined);
  await whileWanted(socket, signal, () =>
    client.connect().catch((error: unknown) => {
      throw loginFailure(error);
    }),
  );
  return { wire: new PostgresWire(socket), processId: client.processID ?? 0, secretKey: client.secretKey ?? 0 };
}

/** The socket is connected (and encrypted) already; `pg` waits for a `connect` event of its own call. */
function presentAsNew(socket: Socket): Socket {
  socket.connect = (): Socket => {
    setImmediate(() => socket.emit('connect'));
    return socket;
  };
  return socket;
}

function loginFailure(error: unknown): DriverFailure {
  const code = errnoOf(error);
  if (code !== undefined && /^[0-9A-Z]{5}$/.test(code) && error instanceof Error) {
    // Whatever the server says while logging in, the connection was not made.
    const kind = classify(code) === 'permission' ? 'permission' : 'connection';
    return new DriverFailure(kind, error.message, { driverCode: code, cause: error });
  }
  return asConnectionFailure(error);
}
