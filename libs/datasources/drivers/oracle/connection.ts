import type { BoundStatement, Cursor, DriverConnection, TableWriter, WriteTarget } from '../driver.js';
import { oneStatement } from '../one-statement.js';
import { settledWithin } from '../patience.js';
import { ServerConnection } from '../server-connection.js';
import { TransactionWriter } from '../transaction-writer.js';
import { openOracleCursor, READ_ONLY } from './cursor.js';
import { withoutEnd } from './projection.js';
import type { OracleSession } from './session.js';
import { OracleWriteSteps } from './table-writer.js';

const RESEND_EVERY_MS = 250;
const RESEND_FOR_MS = 2000;

/** One authenticated session. Author text is always one statement. */
export class OracleConnection extends ServerConnection implements DriverConnection {
  readonly session: OracleSession;
  /** A DDL may have been an ALTER SESSION. */
  #marked = false;

  constructor(session: OracleSession) {
    super(session, { stop: (work) => breakUntilAnswered(session, work) });
    this.session = session;
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
    return await TransactionWriter.begin(this, new OracleWriteSteps(this, target), signal);
  }

  async close(): Promise<void> {
    await this.session.end();
  }

  protected override get restorable(): boolean {
    return !this.#marked;
  }

  protected override answer(): Promise<unknown> {
    return this.session.call((raw) => raw.ping());
  }

  protected override async putBack(): Promise<void> {
    await this.session.call((raw) => raw.rollback());
    await this.session.call((raw) => raw.execute('BEGIN DBMS_SESSION.RESET_PACKAGE; END;', {}, {}));
  }

  protected override async readCatalog(statement: BoundStatement): Promise<(string | null)[][]> {
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

/** A break, sent again every 250 ms for 2 s until the statement has answered (02 §5.2). */
async function breakUntilAnswered(session: OracleSession, work: Promise<unknown>): Promise<void> {
  let answered = false;
  const settled = work.then(
    () => void (answered = true),
    () => void (answered = true),
  );
  for (let waited = 0; waited < RESEND_FOR_MS && !answered; waited += RESEND_EVERY_MS) {
    // Refused when the call has ended meanwhile; the connection is cut in either case.
    session.raw.breakExecution().catch(() => undefined);
    await settledWithin(settled, RESEND_EVERY_MS);
  }
}
