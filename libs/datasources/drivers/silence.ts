import type { Socket } from 'node:net';

/**
 * Calls back each time the socket was quiet for so long, however often before. What `setTimeout` is given itself hears
 * only the first time, and that may be while nobody waits for the server.
 */
export function onSilence(socket: Socket, milliseconds: number, silent: () => void): void {
  socket.setTimeout(milliseconds);
  socket.on('timeout', silent);
}

/** Counts from now: what the server sent while the socket was paused could not be heard. */
export function listenAnew(socket: Socket): void {
  if (socket.timeout !== undefined && socket.timeout > 0) socket.setTimeout(socket.timeout);
}
