import { createServer, STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ExpressAdapter } from '@nestjs/platform-express';
import { newId, PenstockError, writeJson, type ErrorCode } from '#libs/kernel';

/** Times and sizes of one connection (03 §1). How long a request may be idle is looked at every second. */
export const CONNECTION_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 32 * 1024,
  requireHostHeader: false, // a request without one is refused by us, in our envelope
};

/**
 * The listener under the application. What is no HTTP request, or takes too long to become one, never reaches a
 * handler; it is answered here in the same envelope.
 */
export class HttpListener extends ExpressAdapter {
  readonly #latest = new WeakMap<Duplex, ServerResponse>();

  constructor(
    application: object,
    private readonly baseUrl: string,
    private readonly limits: typeof CONNECTION_LIMITS = CONNECTION_LIMITS,
  ) {
    super(application);
  }

  override initHttpServer(): void {
    const server = createServer(this.limits);
    server.on('request', (request, response) => {
      this.#latest.set(request.socket, response);
      (this.getInstance() as (request: object, response: object) => void)(request, response);
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.#answer(error, socket));
    this.httpServer = server;
  }

  #answer(error: NodeJS.ErrnoException, socket: Duplex): void {
    const open = this.#latest.get(socket);
    const busy = open !== undefined && !open.writableFinished && !open.destroyed;
    // Garbage behind a whole request: that request is still owed its answer, and the garbage none.
    if (busy && open.req.complete) return void open.once('close', () => socket.destroy());
    const silent = error.code === 'ECONNRESET' || !socket.writable || (busy && open.headersSent);
    if (silent) socket.destroy(error);
    else socket.end(this.#response(codeOf(error)), () => socket.destroy());
  }

  #response(code: ErrorCode): string {
    const error = new PenstockError(code);
    const correlationId = newId();
    const body = writeJson({ schema_version: 1, correlation_id: correlationId, error: error.toBody(this.baseUrl) });
    return [
      `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      'X-Content-Type-Options: nosniff',
      `DP-Correlation-Id: ${correlationId}`,
      '',
      body,
    ].join('\r\n');
  }
}

function codeOf(error: NodeJS.ErrnoException): ErrorCode {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request.timeout';
  if (error.code === 'HPE_HEADER_OVERFLOW') return 'request.headers_too_large';
  return 'request.malformed';
}
