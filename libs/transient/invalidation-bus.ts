import { newId, type Logger } from '#libs/kernel';
import { CHANNELS, type TransientStore } from './transient-store.js';
import { VersionedChannel, type Heard } from './versioned-channel.js';

/** Something cached may be out of date. `kind: 'all'` comes at every (re)subscription: messages may have been missed. */
export interface Invalidation {
  kind: string;
  id: string;
}

/**
 * The one channel on which instances tell each other that a row changed (00 §8): `{v, origin, kind, id}` on
 * `dp:bus:invalidate`. Own messages do not come back; a publish that fails costs the others one cache lifetime and is
 * logged, never an act.
 */
export class InvalidationBus {
  readonly #origin = newId();
  readonly #handlers = new Set<(invalidation: Invalidation) => void>();
  readonly #channel: VersionedChannel;
  #unsubscribe: (() => Promise<void>) | undefined;

  constructor(store: TransientStore, log: Logger) {
    this.#channel = new VersionedChannel(store, log, CHANNELS.invalidate, 'An invalidation was not published.');
  }

  /** Resolves when messages arrive; call before anything is served. */
  async start(): Promise<void> {
    this.#unsubscribe = await this.#channel.subscribe(
      (heard) => this.#hear(heard),
      () => this.#deliver({ kind: 'all', id: '*' }),
    );
  }

  async stop(): Promise<void> {
    await this.#unsubscribe?.();
    this.#handlers.clear();
  }

  /** Returns the unsubscribe. */
  subscribe(handler: (invalidation: Invalidation) => void): () => void {
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  async publish({ kind, id }: Invalidation): Promise<void> {
    await this.#channel.publish({ origin: this.#origin, kind, id }, { kind, id });
  }

  #hear({ origin, kind, id }: Heard): void {
    if (typeof origin !== 'string' || typeof kind !== 'string' || typeof id !== 'string') return;
    if (origin !== this.#origin) this.#deliver({ kind, id });
  }

  #deliver(invalidation: Invalidation): void {
    for (const handler of this.#handlers) handler(invalidation);
  }
}
