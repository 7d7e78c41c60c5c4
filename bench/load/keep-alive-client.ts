import { Agent, request } from 'node:http';

export interface Exchange {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/**
 * A client of one server whose own cost is small beside what it measures: connections stay open, and an answer is read
 * to its end without being parsed.
 */
export class KeepAliveClient {
  readonly #agent: Agent;
  readonly #host: string;
  readonly #port: string;

  constructor(baseUrl: string, connections: number) {
    const { hostname, port } = new URL(baseUrl);
    this.#host = hostname;
    this.#port = port;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** The whole answer; rejects on any status but 2xx. */
  send({ method, path, headers, body }: Exchange): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent = request(
        { agent: this.#agent, host: this.#host, port: this.#port, method, path, headers },
        (response) => {
          let text = '';
          response.setEncoding('latin1');
          response.on('data', (chunk: string) => (text += chunk));
          response.on('error', reject);
          response.on('end', () => {
            if ((response.statusCode ?? 500) < 300) resolve(text);
            else reject(new TypeError(`${method} ${path} answered ${response.statusCode}: ${text.slice(0, 500)}`));
          });
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
