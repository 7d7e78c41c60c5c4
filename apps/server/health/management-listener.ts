import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { register } from 'prom-client';

/** Metrics on a port of their own, never on the product's (02 §12). */
export class ManagementListener {
  #server: Server | undefined;

  async listen(port: number, address: string, metrics: () => Promise<string>): Promise<number> {
    const server = createServer((request, response) => {
      if (request.method !== 'GET' || !['/metrics', '/actuator/prometheus'].includes(request.url ?? '')) {
        response.writeHead(404).end();
        return;
      }
      metrics().then(
        (text) => response.writeHead(200, { 'Content-Type': register.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, address, resolve);
    });
    this.#server = server;
    return (server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}
