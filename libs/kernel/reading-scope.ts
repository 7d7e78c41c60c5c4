import { AsyncLocalStorage } from 'node:async_hooks';

/** What is known of the one who asked for a read. */
export interface ReadingScope {
  /** Aborts when nobody wants the answers any more. */
  wantedUntil: AbortSignal;
  /** Whether short reads that begin together may share a connection, one behind the other. */
  together: boolean;
}

const storage = new AsyncLocalStorage<ReadingScope>();

/**
 * Runs reads whose answers nobody waits for once the signal aborts: queries outside transactions that run then, or wait
 * for a connection, are cancelled. What begins later is not theirs: a pool or a timer that a read has set going lives on.
 */
export function whileWanted<T>(signal: AbortSignal, work: () => T): T {
  return storage.run({ wantedUntil: signal, together: false }, work);
}

/**
 * Runs short reads, such as lookups of known keys, that may travel together: those of one {@link whileWanted} that begin
 * in the same turn go out in one write on one connection. What may take long does not belong here: it would hold up
 * what stands behind it.
 */
export function readTogether<T>(work: () => T): T {
  const scope = storage.getStore();
  return scope ? storage.run({ ...scope, together: true }, work) : work();
}

/** The scope of the caller's reads; absent where their answers are wanted to the end. */
export function readingScope(): ReadingScope | undefined {
  const scope = storage.getStore();
  return scope?.wantedUntil.aborted ? undefined : scope;
}
