import type { AuditEntry } from '#libs/audit';
import type { TerminalRecord } from './terminal-writes.js';

/** What the audit trail says of a run, for a door that must write it down: each row is committed with the run's own. */
export interface RunTrail {
  /** Before the run: no row, no run. */
  readonly started: AuditEntry;
  /** At its end, asked once; undefined when nothing is to be said any more. */
  ended(status: TerminalRecord['status']): AuditEntry | undefined;
}
