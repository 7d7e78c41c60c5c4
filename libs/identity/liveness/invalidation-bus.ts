/** Port: a channel on which every instance hears every other. Messages may be lost; nobody relies on one alone. */
export abstract class InvalidationBus {
  abstract publish(message: string): Promise<void>;
  /** @returns the way to stop listening */
  abstract subscribe(listener: InvalidationListener): Promise<() => Promise<void>>;
}

export interface InvalidationListener {
  onMessage(message: string): void;
  /** At every subscription, the first included: what was sent before may have been missed. */
  onSubscribed(): void;
}
