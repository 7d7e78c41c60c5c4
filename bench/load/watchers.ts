import { connect, type Socket } from 'node:net';

/** When an event came about, by its own account, for every kind that a running node tells. */
const EMITTED = /"(?:observed_at|completed_at|failed_at|aborted_at)":"([^"]+)"/;
/** Several thousand handshakes at once are more than a listener's backlog. */
const AT_ONCE = 50;

/** What a watcher is told: the delay from an event's own time to its arrival here, in milliseconds. */
export type Arrival = (delayMs: number) => void;

/**
 * Many open streams of runs, each on a socket of its own, read without more work than finding when an event came about.
 * Server and watcher share a clock: they are on one machine.
 */
export class Watchers {
  readonly #sockets: Socket[] = [];
  #since = Infinity;
  #arrivals: number[] = [];

  /** Opens `count` streams of one run, `spread` over servers and people; resolves when each has been answered. */
  async open(
    count: number,
    executionId: string,
    spread: (watcher: number) => { baseUrl: string; key: string },
  ): Promise<void> {
    let next = 0;
    const opener = async (): Promise<void> => {
      while (next < count) {
        const { baseUrl, key } = spread(next++);
        await this.#watch(baseUrl, executionId, key);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, opener));
  }

  get count(): number {
    return this.#sockets.length;
  }

  /** Counts events that come about from now on. */
  begin(): void {
    this.#since = Date.now();
    this.#arrivals = [];
  }

  /** Delays of everything that arrived since. */
  get arrivals(): readonly number[] {
    return this.#arrivals;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #watch(baseUrl: string, executionId: string, key: string): Promise<void> {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname);
    this.#sockets.push(socket);
    const head = [
      `GET /api/v1/executions/${executionId}/events HTTP/1.1`,
      `Host: ${hostname}`,
      `DP-API-Key: ${key}`,
      'Accept: text/event-stream',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    socket.setEncoding('latin1');
    return new Promise((resolve, reject) => {
      let text = '';
      let answered = false;
      socket.on('data', (chunk: string) => {
        text += chunk;
        if (!answered) {
          if (!text.includes('\r\n\r\n')) return;
          answered = true;
          if (text.startsWith('HTTP/1.1 200')) resolve();
          else reject(new TypeError(`A watcher was answered: ${text.slice(0, 500)}`));
        }
        const end = text.lastIndexOf('\n\n');
        if (end < 0) return;
        for (const block of text.slice(0, end).split('\n\n')) this.#arrived(block);
        text = text.slice(end + 2);
      });
      socket.on('error', reject);
    });
  }

  #arrived(block: string): void {
    const emitted = EMITTED.exec(block)?.[1];
    if (emitted === undefined) return;
    const at = Date.parse(emitted);
    if (at >= this.#since) this.#arrivals.push(Date.now() - at);
  }
}
