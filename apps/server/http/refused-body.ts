import type { Request } from 'express';

/** How long and how far the rest of a body that nobody wants is read and thrown away. */
const LINGER = { ms: 2000, bytes: 16 * 1024 * 1024 };

/**
 * Lets the sender of a body that is refused, or that no door reads, have his answer. A connection that is closed under
 * bytes nobody has read is reset, and the reset overtakes the answer. So what still comes is thrown away up to a size,
 * then left where it is, and only who has not gone by himself after a moment is cut off.
 */
export function lingerUnderBody(request: Request): void {
  const { res: response, socket } = request;
  const hasBody = request.get('Transfer-Encoding') !== undefined || Number(request.get('Content-Length') ?? 0) > 0;
  if (!response || !hasBody || request.complete) return;
  const wasLast = !response.shouldKeepAlive;
  // The runtime would end the connection behind the answer at once.
  response.shouldKeepAlive = true;
  // A body that nobody has begun to read it would swallow whole, however long.
  request.read(0);
  response.once('finish', () => {
    const clock = setTimeout(() => socket.destroy(), LINGER.ms);
    let left = LINGER.bytes;
    socket.once('close', () => clearTimeout(clock));
    request.once('end', () => {
      clearTimeout(clock);
      if (wasLast) socket.end();
    });
    request.on('data', ({ length }: Buffer) => {
      left -= length;
      if (left < 0) request.pause();
    });
    request.resume();
  });
}
