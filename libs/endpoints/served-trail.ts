import { auditEntry, type AuditEntry, type AuditObserver } from '#libs/audit';
import type { RunTrail } from '#libs/executions';
import type { Principal } from '#libs/kernel';

type ServedOutcome = 'started' | 'completed' | 'accepted' | 'failed';

/**
 * What the audit trail says of one served call (04 §10). That it started is committed with the run's row: later reads of
 * the run by this key are proved by it. How it ended is committed with the run's end, unless the caller was told before
 * that it goes on.
 */
export class ServedTrail implements RunTrail {
  readonly started: AuditEntry;
  #told = false;

  constructor(
    private readonly principal: Principal,
    private readonly endpointId: string,
    readonly executionId: string,
    private readonly observer: AuditObserver,
  ) {
    this.started = this.#entry('started');
  }

  ended(status: 'SUCCESS' | 'FAILED' | 'ABORTED'): AuditEntry | undefined {
    if (this.#told) return undefined;
    this.#told = true;
    return this.#entry(status === 'SUCCESS' ? 'completed' : 'failed');
  }

  /**
   * The caller is answered before he knows how it ends. Said also when the end is being written at this moment: whether
   * that write commits is not known yet, and what the caller was told stands in the trail either way.
   */
  accepted(): Promise<void> {
    return this.say('accepted');
  }

  /** A row of its own, for what no row of the run tells. */
  async say(outcome: Exclude<ServedOutcome, 'started'>): Promise<void> {
    this.#told = true;
    await this.observer.observe(this.principal, 'endpoint.served', this.#details(outcome));
  }

  #entry(outcome: ServedOutcome): AuditEntry {
    return auditEntry(this.principal, 'endpoint.served', this.#details(outcome));
  }

  #details(outcome: ServedOutcome) {
    return { endpoint_id: this.endpointId, execution_id: this.executionId, outcome };
  }
}
