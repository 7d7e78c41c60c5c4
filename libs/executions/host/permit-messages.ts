import type { CarriedError } from './thread-messages.js';

/** Size of a datasource's pool and the patience of who waits for it, as the asking thread has read them. */
export interface PoolFigures {
  poolSize: number;
  connectionTimeoutMs: number;
}

/** From a thread to who keeps the permits. */
export type PermitRequest =
  | {
      kind: 'take';
      id: number;
      /** A set of node permits of this thread, and how many it has. */
      set: number;
      limit: number;
      datasources: readonly string[];
      figures: ReadonlyMap<string, PoolFigures>;
    }
  | { kind: 'giveUp'; id: number }
  | { kind: 'release'; id: number };

export type PermitAnswer = { kind: 'granted'; id: number } | { kind: 'refused'; id: number; error: CarriedError };
