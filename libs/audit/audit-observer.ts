import { Injectable } from '@nestjs/common';
import { Logger } from '#libs/kernel';
import { AuditJournal } from './audit-journal.js';
import type { AuditActor } from './audit-log.js';
import type { AuditDetails, AuditEventName } from './audit-events.js';

/**
 * Rows about things that change no state, such as a refused login. They are awaited, and a failure to write one is
 * logged and counted but does not change the answer (contract 04 §10).
 */
@Injectable()
export class AuditObserver {
  #failures = 0;

  constructor(
    private readonly journal: AuditJournal,
    private readonly logger: Logger,
  ) {}

  async observe<E extends AuditEventName>(actor: AuditActor, event: E, details: AuditDetails<E>): Promise<void> {
    try {
      await this.journal.append(actor, event, details);
    } catch (error) {
      this.#failures += 1;
      this.logger.warn('audit.row_not_written', { event, error });
    }
  }

  /** Rows lost since the process started; a metric. */
  get failures(): number {
    return this.#failures;
  }
}
