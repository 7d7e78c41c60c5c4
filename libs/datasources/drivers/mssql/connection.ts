import type { BoundStatement, Cursor, DriverConnection, TableWriter, WriteTarget } from '../driver.js';
import { oneStatement } from '../one-statement.js';
import { settledWithin } from '../patience.js';
import { ServerConnection } from '../server-connection.js';
import { TransactionWriter } from '../transaction-writer.js';
import { BEGIN, openMssqlCursor, ROLLBACK } from './cursor.js';
import { readingStatement } from './read-gate.js';
import type { MssqlSession } from './session.js';
import { MssqlWriteSteps } from './table-writer.js';

/** How long the server may take to answer a cancel before the connection is cut. */
const CANCEL_PATIENCE_MS = 2000;

/** One authenticated session. Author text is always one parameterised request. */
export class MssqlConnection extends ServerConnection implements DriverConnection {
  readonly session: MssqlSession;

  constructor(session: MssqlSession) {
    const stop = async (statement: Promise<unknown>): Promise<void> => {
      session.cancel();
      await settledWithin(statement, CANCEL_PATIENCE_MS);
    };
    super(session, { stop }, { distrustsResults: true });
    this.session = session;
  }

  async openCursor(statement: BoundStatement, options: { fetchSize: number; signal: AbortSignal }): Promise<Cursor> {
    readingStatement(statement.sql);
    return await openMssqlCursor(this, statement, options);
  }

  async execute(statement: BoundStatement, { signal }: { signal: AbortSignal }): Promise<number> {
    const statementClass = oneStatement('MSSQL', statement.sql, ['DML', 'DDL']);
    const affected = await this.stoppable(this.session.run(statement).done, signal);
    return statementClass === 'DML' ? affected : 0;
  }

  async beginWrite(target: WriteTarget, { signal }: { signal: AbortSignal }): Promise<TableWriter> {
    return await TransactionWriter.begin(this, new MssqlWriteSteps(this, target), signal);
  }

  close(): Promise<void> {
    this.session.end();
    return Promise.resolve();
  }

  protected override answer(): Promise<unknown> {
    return this.session.batch('SELECT 1');
  }

  protected override async putBack(): Promise<void> {
    await this.session.batch(ROLLBACK);
    await this.session.reset();
  }

  protected override async readCatalog(statement: BoundStatement): Promise<(string | null)[][]> {
    const rows: (string | null)[][] = [];
    await this.session.batch(BEGIN);
    await this.session.run(statement, {
      describe: () => undefined,
      row: (values) => void rows.push(values.map((value) => (value === null ? null : String(value)))),
    }).done;
    await this.session.batch(ROLLBACK);
    return rows;
  }
}
