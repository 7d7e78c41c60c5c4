import { Injectable } from '@nestjs/common';
import { Batcher, Database, isConnectionFailure } from '#libs/persistence';
import { auditEntry, insertAuditEntries, type AuditActor, type AuditEntry } from './audit-log.js';
import type { AuditDetails, AuditEventName } from './audit-events.js';

const MAX_ROWS = 200;
const FLUSHES = 2;

/**
 * Rows that stand outside the transaction of an act: what precedes a run, and what changes no state. Those that arrive
 * together share one statement and its commit; a row that is refused does not take its neighbours along.
 */
@Injectable()
export class AuditJournal {
  readonly #batcher: Batcher<AuditEntry, undefined>;

  constructor(db: Database) {
    this.#batcher = new Batcher(
      async (entries) => {
        await insertAuditEntries(db, entries);
        return entries.map(() => undefined);
      },
      { maxItems: MAX_ROWS, concurrency: FLUSHES, separable: (error) => !isConnectionFailure(error) },
    );
  }

  /**
   * Returns when the row is committed.
   *
   * @throws TypeError when the event or a detail key is not admitted; and what the database answered when it took no row
   */
  async append<E extends AuditEventName>(actor: AuditActor, event: E, details: AuditDetails<E>): Promise<void> {
    await this.#batcher.add(auditEntry(actor, event, details));
  }
}
