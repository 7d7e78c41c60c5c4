import { abortable, DriverFailure } from '../driver-failure.js';
import type { BoundStatement, Cursor, DriverConnection, TableWriter, WriteTarget } from '../driver.js';
import { oneStatement } from '../one-statement.js';
import { settledWithin } from '../patience.js';
import { Stopper } from '../stopper.js';
import { BEGIN, openMssqlCursor, ROLLBACK } from './cursor.js';
import { readingStatement } from './read-gate.js';
import type { MssqlSession } from './session.js';
import { MssqlTableWriter } from './table-writer.js';

/** How long the server may take to answer a cancel before the connection is cut. */
const CANCEL_PATIENCE_MS = 2000;

/** One authenticated session. Author text is always one parameterised request. */
export class MssqlConnection implements DriverConnection {
  readonly serves = 'both';
  readonly session: MssqlSession;
  readonly #stopper: Stopper;

  constructor(session: MssqlSession) {
    this.session = session;
    const stop = async (statement: Promise<unknown>): Promise<void> => {
      session.cancel();
      await settledWithin(statement, CANCEL_PATIENCE_MS);
    };
    this.#stopper = new Stopper(session, { stop }, { distrustsResults: true });
  }

  get usable(): boolean {
    return this.#stopper.usable;
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
    return await MssqlTableWriter.begin(this, target, signal);
  }

  async catalog(statement: BoundStatement, signal: AbortSignal): Promise<(string | null)[][]> {
    return await this.stoppable(this.#readCatalog(statement), signal);
  }

  stoppable<T>(work: Promise<T>, signal: AbortSignal, onStop?: () => void): Promise<T> {
    return this.#stopper.stoppable(work, signal, onStop);
  }

  /** For a COMMIT: what the server answered stands. */
  completion<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#stopper.completion(work, signal);
  }

  /** Stops what the connection is doing and cuts it. */
  abandon(work: Promise<unknown>): Promise<void> {
    return this.#stopper.abandon(work);
  }

  async ping(timeoutMs: number): Promise<void> {
    await abortable(this.session.batch('SELECT 1'), AbortSignal.timeout(timeoutMs));
  }

  async reset(): Promise<boolean> {
    if (!this.usable) return false;
    try {
      await this.session.batch(ROLLBACK);
      await this.session.reset();
      return this.usable;
    } catch (error) {
      if (error instanceof DriverFailure) return false;
      throw error;
    }
  }

  close(): Promise<void> {
    this.session.end();
    return Promise.resolve();
  }

  destroy(): void {
    this.session.destroy();
  }

  async #readCatalog(statement: BoundStatement): Promise<(string | null)[][]> {
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
