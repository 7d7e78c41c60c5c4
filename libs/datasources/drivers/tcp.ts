import { connect, type Socket } from 'node:net';

import { abortable, cancelled, DriverFailure, errnoOf } from './driver-failure.js';

/** Resolves and judges a host right before it is dialled; the socket goes to exactly the address judged (04 §12). */
export type AddressCheck = (host: string, port: number) => Promise<{ address: string }>;

export interface TcpTarget {
  host: string;
  port: number;
  keepAlive: boolean;
}

/** Opens a TCP connection to the checked address; it ends with the signal. Rejects with DriverFailure. */
export async function dialTcp(target: TcpTarget, check: AddressCheck, signal: AbortSignal): Promise<Socket> {
  if (signal.aborted) throw cancelled(signal);
  // Looking a name up takes its time too, and nothing ends it.
  const { address } = await abortable(check(target.host, target.port), signal);
  if (signal.aborted) throw cancelled(signal);
  const socket = connect({ host: address, port: target.port, noDelay: true, keepAlive: target.keepAlive });
  // Each wait listens for itself; an error between two waits would otherwise end the process.
  socket.on('error', () => undefined);
  return await whileWanted(socket, signal, async () => {
    await settled(socket, 'connect').catch((error: unknown) => {
      throw asConnectionFailure(error);
    });
    return socket;
  });
}

/** One step of getting connected over a socket: the signal ends the socket, and so does the step's own failure. */
export async function whileWanted<T>(socket: Socket, signal: AbortSignal, step: () => Promise<T>): Promise<T> {
  const onAbort = (): void => void socket.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    if (signal.aborted) throw cancelled(signal);
    return await step();
  } catch (error) {
    socket.destroy();
    throw signal.aborted ? cancelled(signal) : error;
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

/** Waits for a socket's event; its error or its end rejects. */
export function settled(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
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
