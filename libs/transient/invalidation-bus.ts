import { newId, type Logger } from '#libs/kernel';
import { CHANNELS, type TransientStore } from './transient-store.js';

/** Something cached may be out of date. `kind: 'all'` comes at every (re)subscription: messages may have been missed. */
export interface Invalidation {
  kind: string;
  id: string;
}

const VERSION = 1;

/**
 * The one channel on which instances tell each other that a row changed (00 §8): `{v, origin, kind, id}` on
 * `dp:bus:invalidate`. Own messages do not come back; a publish that fails costs the others one cache lifetime and is
 * logged, never an act.
 */
export class InvalidationBus {
  readonly #origin = newId();
  readonly #handlers = new Set<(invalidation: Invalidation) => void>();
  #unsubscribe: (() => Promise<void>) | undefined;

  constructor(
    private readonly store: TransientStore,
    private readonly log: Logger,
  ) {}

  /** Resolves when messages arrive; call before anything is served. */
  async start(): Promise<void> {
    this.#unsubscribe = await this.store.subscribe(
      CHANNELS.invalidate,
      (message) => this.#hear(message),
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

  async publish(invalidation: Invalidation): Promise<void> {
    try {
      const message = JSON.stringify({ v: VERSION, origin: this.#origin, ...invalidation });
      await this.store.publish(CHANNELS.invalidate, message);
    } catch (error) {
      this.log.warn('An invalidation was not published.', { ...invalidation, error });
    }
  }

  #hear(message: string): void {
    const heard = parse(message);
    if (heard && heard.origin !== this.#origin) this.#deliver({ kind: heard.kind, id: heard.id });
  }

  #deliver(invalidation: Invalidation): void {
    for (const handler of this.#handlers) handler(invalidation);
  }
}

function parse(message: string): (Invalidation & { origin: string }) | undefined {
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // another version's or a stranger's message
    throw error;
  }
  const { v, origin, kind, id } = (value ?? {}) as Record<string, unknown>;
  if (v !== VERSION || typeof origin !== 'string' || typeof kind !== 'string' || typeof id !== 'string')
    return undefined;
  return { origin, kind, id };
}
