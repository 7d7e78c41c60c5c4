import { once } from 'node:events';
import type { Response } from 'express';
import { clientGone } from '../http/client-gone.js';

/**
 * Streams a result as an attachment. The producer is asked for the next piece only when the socket took the last; one
 * that fails midway breaks the connection, so that a short file never looks complete.
 */
export async function streamCsv(
  response: Response,
  executionId: string,
  open: (signal: AbortSignal) => Promise<AsyncIterable<string>>,
): Promise<void> {
  const gone = clientGone(response);
  const pieces = await open(gone.signal);
  response.status(200);
  response.setHeader('Content-Type', 'text/csv; charset=utf-8');
  response.setHeader('Content-Disposition', `attachment; filename="${executionId}.csv"`);
  response.setHeader('Cache-Control', 'no-store');
  if (response.req.method === 'HEAD') return void response.end();
  try {
    for await (const piece of pieces) {
      if (gone.signal.aborted) return;
      if (!response.write(piece)) await once(response, 'drain', { signal: gone.signal });
    }
    response.end();
  } catch (error) {
    if (gone.signal.aborted) return;
    // Before the first byte this is a refusal like any other; later the error filter cuts the connection.
    throw error;
  }
}
