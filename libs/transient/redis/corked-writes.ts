import type { Redis } from 'ioredis';

/**
 * Commands of one turn of the event loop leave by one write, and none of them waits for the answers to those before it.
 * The client's own pipelining sends a batch only when the one ahead has been answered, which under load is half of the
 * time that a command takes.
 */
export class CorkedWrites {
  #corked: Redis['stream'] | undefined;

  constructor(private readonly redis: Redis) {}

  /** To be called before a command is given to the client. */
  gather(): void {
    // A stream that broke is replaced; what was held back in it fails with it.
    const { stream } = this.redis;
    if (this.#corked === stream) return;
    this.#release();
    stream.cork();
    this.#corked = stream;
    setImmediate(() => this.#release());
  }

  #release(): void {
    this.#corked?.uncork();
    this.#corked = undefined;
  }
}
