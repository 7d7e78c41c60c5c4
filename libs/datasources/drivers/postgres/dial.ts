import { isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

import { DriverFailure } from '../driver-failure.js';
import { asConnectionFailure, dialTcp, settled, whileWanted, type AddressCheck } from '../tcp.js';

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

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/** Opens a TCP connection to the checked address and upgrades it as the mode asks. Rejects with DriverFailure. */
export async function dial(target: DialTarget, check: AddressCheck, signal: AbortSignal): Promise<Socket> {
  const { host, port, tcpKeepAlive: keepAlive } = target;
  const socket = await dialTcp({ host, port, keepAlive }, check, signal);
  if (target.sslMode === 'disable') return socket;
  return await whileWanted(socket, signal, () =>
    upgrade(socket, target).catch((error: unknown) => {
      throw asConnectionFailure(error);
    }),
  );
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
