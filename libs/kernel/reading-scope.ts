import { AsyncLocalStorage } from 'node:async_hooks';

const storage = new AsyncLocalStorage<AbortSignal>();

/**
 * Runs reads whose answers nobody waits for once the signal aborts: queries outside transactions that run then, or wait
 * for a connection, are cancelled. What begins later is not theirs: a pool or a timer that a read has set going lives on.
 */
export function whileWanted<T>(signal: AbortSignal, work: () => T): T {
  return storage.run(signal, work);
}

/** Aborts when nobody wants the answers of the caller's reads any more; absent where they are wanted to the end. */
export function wantedUntil(): AbortSignal | undefined {
  const signal = storage.getStore();
  return signal?.aborted ? undefined : signal;
}
