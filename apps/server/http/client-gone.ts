import type { Response } from 'express';

/**
 * Aborts when the client is gone. A response closes once, so a listener that comes after a slow launch or read would wait
 * for ever, and what it holds with it: a client that went meanwhile counts at once.
 */
export function clientGone(response: Response): AbortController {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  else response.once('close', () => gone.abort());
  return gone;
}
