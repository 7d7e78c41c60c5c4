type Handler = (message: string) => void;

/** Publish and subscribe within the process; a message arrives after the publisher's own turn, as it would over a wire. */
export class LocalBus {
  readonly #handlers = new Map<string, Set<Handler>>();

  publish(channel: string, message: string): void {
    for (const handler of this.#handlers.get(channel) ?? []) {
      setImmediate(() => {
        if (this.#handlers.get(channel)?.has(handler)) handler(message);
      });
    }
  }

  subscribe(channel: string, onMessage: Handler): () => void {
    // A wrapper of its own, so that one function may subscribe twice.
    const handler: Handler = (message) => onMessage(message);
    const handlers = this.#handlers.get(channel) ?? new Set();
    this.#handlers.set(channel, handlers.add(handler));
    return () => void handlers.delete(handler);
  }

  clear(): void {
    this.#handlers.clear();
  }
}
