import type { Worker } from 'node:worker_threads';
import type { TerminalOutcome } from '../run/run-ending.js';
import type { SharedMemory } from '../staging/shared-memory.js';
import type { RemotePermits } from './remote-permits.js';
import type { ChildNotice, ThreadBirth } from './thread-messages.js';

/** How an instance comes to threads that run for it. */
export interface ThreadSource {
  count: number;
  /** Starts one; it reports when it takes runs. */
  spawn(birth: ThreadBirth): Worker;
}

/** What an instance that lives in a thread has from the one that started it. */
export interface ThreadMembership {
  threads: number;
  memory: SharedMemory;
  board: RemotePermits;
  childBegan(child: ChildNotice): void;
  childEnded(outcome: TerminalOutcome): void;
}

/**
 * Where in its process an instance stands: the whole of it (`inline`), the one that has threads run its executions, or
 * one of those threads (`datapipelines.executor.host`).
 */
export class ExecutionPlace {
  private constructor(
    readonly threads: ThreadSource | undefined,
    readonly membership: ThreadMembership | undefined,
  ) {}

  static inline(): ExecutionPlace {
    return new ExecutionPlace(undefined, undefined);
  }

  static with(threads: ThreadSource): ExecutionPlace {
    return new ExecutionPlace(threads, undefined);
  }

  static within(membership: ThreadMembership): ExecutionPlace {
    return new ExecutionPlace(undefined, membership);
  }
}
