import { readFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';

import type { ServerCertificate } from '../../../test/fixtures/certificates.js';

/** Ends PostgreSQL's TLS in front of a server that has none: answers the SSLRequest itself and passes the rest on. */
export class TlsFront {
  /** Sessions and cancel requests that came encrypted, and those that did not. */
  encrypted = 0;
  plain = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor({ key, certificate }: ServerCertificate, backend: { host: string; port: number }) {
    const secureContext = createSecureContext({ key: readFileSync(key), cert: readFileSync(certificate) });
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('data', (first: Buffer) => {
        if (first.length !== 8 || first.readUInt32BE(4) !== 80877103) {
          this.plain += 1;
          socket.destroy();
          return;
        }
        socket.write('S');
        const secure = new TLSSocket(socket, { isServer: true, secureContext });
        secure.on('error', () => undefined);
        secure.on('secure', () => (this.encrypted += 1));
        const upstream = connect(backend);
        upstream.on('error', () => secure.destroy());
        secure.pipe(upstream).pipe(secure);
        secure.on('close', () => upstream.destroy());
        upstream.on('close', () => secure.destroy());
      });
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as { port: number }).port;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}
