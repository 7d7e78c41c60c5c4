import type { Redis } from 'ioredis';

interface Listener {
  onMessage: (message: string) => void;
  onReady: () => void;
}

/**
 * The connection that listens. After every reconnect it subscribes anew and tells each listener, because messages of
 * the meantime are lost.
 */
export class Subscriber {
  readonly #listeners = new Map<string, Set<Listener>>();

  constructor(
    private readonly redis: Redis,
    private readonly onProblem: (what: string, error: unknown) => void,
  ) {
    redis.on('message', (channel: string, message: string) => {
      for (const { onMessage } of this.#listeners.get(channel) ?? []) onMessage(message);
    });
    redis.on('ready', () => void this.#resume());
  }

  async subscribe(channel: string, listener: Listener): Promise<() => Promise<void>> {
    await this.redis.subscribe(channel);
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    listener.onReady();
    return async () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.#listeners.get(channel) !== listeners) return;
      this.#listeners.delete(channel);
      // Without a connection there is no subscription either.
      if (this.redis.status === 'ready') await this.redis.unsubscribe(channel);
    };
  }

  async #resume(): Promise<void> {
    const channels = [...this.#listeners.keys()];
    if (channels.length === 0) return;
    try {
      await this.redis.subscribe(...channels);
    } catch (error) {
      // Broke again; the next `ready` is another try.
      this.onProblem('Redis did not accept the subscriptions.', error);
      return;
    }
    for (const listeners of this.#listeners.values()) for (const { onReady } of listeners) onReady();
  }
}
