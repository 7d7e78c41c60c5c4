import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

import { cancelled, DriverFailure, errnoOf } from '../driver-failure.js';

/** libpq's words. `allow` behaves as `prefer`: encrypted wherever the server can. */
export type SslMode = 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';

export interface DialTarget {
  host: string;
  port: number;
  sslMode: SslMode;
  /** PEM text of the trusted roots; absent = the runtime's own. */
  rootCertificate?: string;
  tcpKeepAlive: boolean;
}

/** Resolves and judges a host right before it is dialled; the socket goes to exactly the address judged (04 §12). */
export type AddressCheck = (host: string, port: number) => Promise<{ address: string }>;

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/** Opens a TCP connection to the checked address and upgrades it as the mode asks. Rejects with DriverFailure. */
export async function dial(target: DialTarget, check: AddressCheck, signal: AbortSignal): Promise<Socket> {
  if (signal.aborted) throw cancelled(signal);
  const { address } = await check(target.host, target.port);
  const socket = connectTcp({ host: address, port: target.port, noDelay: true, keepAlive: target.tcpKeepAlive });
  // Each wait below listens for itself; an error between two waits would otherwise end the process.
  socket.on('error', () => undefined);
  const onAbort = (): void => void socket.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await settled(socket, 'connect');
    return target.sslMode === 'disable' ? socket : await upgrade(socket, target);
  } catch (error) {
    socket.destroy();
    if (signal.aborted) throw cancelled(signal);
    throw asConnectionFailure(error);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

export function asConnectionFailure(error: unknown): DriverFailure {
  if (error instanceof DriverFailure) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new DriverFailure('connection', text || 'The connection failed.', {
    driverCode: errnoOf(error),
    cause: error,
  });
}

async function upgrade(socket: Socket, target: DialTarget): Promise<Socket> {
  const answer = oneByte(socket);
  socket.write(SSL_REQUEST);
  const byte = await answer;
  if (byte === 'N' && target.sslMode === 'prefer') return socket;
  if (byte !== 'S') {
    throw new DriverFailure('connection', 'The server does not offer TLS, and sslmode asks for it.', {
      driverCode: 'TLS_NOT_OFFERED',
    });
  }
  const secure = connectTls({
    socket,
    ...(isIP(target.host) === 0 ? { servername: target.host } : {}),
    host: target.host,
    ...(target.rootCertificate === undefined ? {} : { ca: target.rootCertificate }),
    rejectUnauthorized: target.sslMode === 'verify-ca' || target.sslMode === 'verify-full',
    ...(target.sslMode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  });
  secure.on('error', () => undefined);
  try {
    await settled(secure, 'secureConnect');
  } catch (error) {
    secure.destroy();
    throw error;
  }
  return secure;
}

function settled(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (outcome: () => void) => {
      socket.removeListener(event, onReady);
      socket.removeListener('error', onError);
      socket.removeListener('close', onClose);
      outcome();
    };
    const onReady = (): void => done(resolve);
    const onError = (error: Error): void => done(() => reject(error));
    const onClose = (): void =>
      done(() =>
        reject(new DriverFailure('connection', 'The server closed the connection.', { driverCode: 'ECONNRESET' })),
      );
    socket.once(event, onReady);
    socket.once('error', onError);
    socket.once('close', onClose);
  });
}

/** Exactly one byte: anything sent after it before the handshake would be injected text, and is refused. */
function oneByte(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    const done = (outcome: () => void): void => {
      socket.removeListener('data', onData);
      socket.removeListener('error', onError);
      socket.removeListener('close', onClose);
      outcome();
    };
    const onData = (chunk: Buffer): void =>
      done(() => (chunk.length === 1 ? resolve(chunk.toString('latin1')) : resolve('?')));
    const onError = (error: Error): void => done(() => reject(error));
    const onClose = (): void =>
      done(() =>
        reject(new DriverFailure('connection', 'The server closed the connection.', { driverCode: 'ECONNRESET' })),
      );
    socket.on('data', onData);
    socket.once('error', onError);
    socket.once('close', onClose);
  });
}
