import type { AuditEntry } from '#libs/audit';
import type { TerminalRecord } from './terminal-writes.js';

/** What the trail says of a run's end, as the run asks for it; where it runs in a thread, the instance is asked. */
export interface EndTrail {
  /** Asked once; undefined when nothing is to be said any more. */
  ended(status: TerminalRecord['status']): AuditEntry | undefined | Promise<AuditEntry | undefined>;
}

/** What the audit trail says of a run, for a door that must write it down: each row is committed with the run's own. */
export interface RunTrail extends EndTrail {
  /** Before the run: no row, no run. */
  readonly started: AuditEntry;
  ended(status: TerminalRecord['status']): AuditEntry | undefined;
}
