import type { AbortReason } from '../run/outcome.js';
import type { TerminalOutcome } from '../run/run-ending.js';

/** A run of this instance, wherever in it the scheduler works: here, or in a thread (contract 02 §1). */
export interface HostedRun {
  readonly executionId: string;
  readonly userId: string;
  readonly workspaceId: string;
  /** Ends with its last watcher after the grace. */
  readonly attached: boolean;
  /** Ends the run from outside; the first cause wins. Returns at once. */
  cancel(reason: AbortReason): void;
  /** Fails the run as a whole; no node is to blame. */
  fail(error: unknown): void;
  /** The row is no longer ours: stop, and write nothing. */
  fence(): void;
  /** Runs to the end. Never rejects: every way out is an outcome. */
  run(): Promise<TerminalOutcome>;
}
