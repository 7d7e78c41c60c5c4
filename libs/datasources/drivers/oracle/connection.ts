import { abortable, DriverFailure } from '../driver-failure.js';
import type { BoundStatement, Cursor, DriverConnection, TableWriter, WriteTarget } from '../driver.js';
import { oneStatement } from '../one-statement.js';
import { settledWithin } from '../patience.js';
import { Stopper } from '../stopper.js';
import { openOracleCursor, READ_ONLY } from './cursor.js';
import { withoutEnd } from './projection.js';
import type { OracleSession } from './session.js';
import { OracleTableWriter } from './table-writer.js';

const RESEND_EVERY_MS = 250;
const RESEND_FOR_MS = 2000;

/** One authenticated session. Author text is always one statement. */
export class OracleConnection implements DriverConnection {
  readonly serves = 'both';
  readonly session: OracleSession;
  readonly #stopper: Stopper;
  /** A DDL may have been an ALTER SESSION. */
  #marked = false;

  constructor(session: OracleSession) {
    this.session = session;
    this.#stopper = new Stopper(session, { stop: (work) => this.#break(work) });
  }

  get usable(): boolean {
    return this.#stopper.usable;
  }

  async openCursor(statement: BoundStatement, options: { fetchSize: number; signal: AbortSignal }): Promise<Cursor> {
    oneStatement('ORACLE', statement.sql, ['DQL']);
    return await openOracleCursor(this, statement, options);
  }

  async execute(statement: BoundStatement, { signal }: { signal: AbortSignal }): Promise<number> {
    const statementClass = oneStatement('ORACLE', statement.sql, ['DML', 'DDL']);
    if (statementClass === 'DDL') this.#marked = true;
    const { session } = this;
    const work = session.call((raw) =>
      raw.execute(withoutEnd(statement.sql), session.bindsOf(statement), { autoCommit: true }),
    );
    const { rowsAffected = 0 } = await this.stoppable(work, signal);
    return statementClass === 'DML' ? rowsAffected : 0;
  }

  async beginWrite(target: WriteTarget, { signal }: { signal: AbortSignal }): Promise<TableWriter> {
    return await OracleTableWriter.begin(this, target, signal);
  }

  async catalog(statement: BoundStatement, signal: AbortSignal): Promise<(string | null)[][]> {
    return await this.stoppable(this.#readCatalog(statement), signal);
  }

  stoppable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#stopper.stoppable(work, signal);
  }

  /** Stops what the connection is doing and cuts it. */
  abandon(work: Promise<unknown>): Promise<void> {
    return this.#stopper.abandon(work);
  }

  async ping(timeoutMs: number): Promise<void> {
    await abortable(
      this.session.call((raw) => raw.ping()),
      AbortSignal.timeout(timeoutMs),
    );
  }

  async reset(): Promise<boolean> {
    if (!this.usable || this.#marked) return false;
    try {
      await this.session.call((raw) => raw.rollback());
      await this.session.call((raw) => raw.execute('BEGIN DBMS_SESSION.RESET_PACKAGE; END;', {}, {}));
      return this.usable;
    } catch (error) {
      if (error instanceof DriverFailure) return false;
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.session.end();
  }

  destroy(): void {
    this.session.destroy();
  }

  /** A break, sent again every 250 ms for 2 s until the statement has answered (02 §5.2). */
  async #break(work: Promise<unknown>): Promise<void> {
    let answered = false;
    const settled = work.then(
      () => void (answered = true),
      () => void (answered = true),
    );
    for (let waited = 0; waited < RESEND_FOR_MS && !answered; waited += RESEND_EVERY_MS) {
      // Refused when the call has ended meanwhile; the connection is cut in either case.
      this.session.raw.breakExecution().catch(() => undefined);
      await settledWithin(settled, RESEND_EVERY_MS);
    }
  }

  async #readCatalog(statement: BoundStatement): Promise<(string | null)[][]> {
    const { session } = this;
    await session.call((raw) => raw.execute(READ_ONLY, {}, {}));
    const { rows = [] } = await session.call((raw) =>
      raw.execute(statement.sql, session.bindsOf(statement), {
        outFormat: session.library.OUT_FORMAT_ARRAY,
        fetchTypeHandler: ({ dbTypeName }: { dbTypeName: string }) =>
          ['NUMBER', 'CLOB', 'LONG'].includes(dbTypeName) ? { type: session.library.STRING } : undefined,
      }),
    );
    await session.call((raw) => raw.rollback());
    return rows.map((row) => row.map((value) => (value === null || value === undefined ? null : String(value))));
  }
}
