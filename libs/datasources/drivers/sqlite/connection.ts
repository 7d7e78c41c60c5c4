import { classifyStatement, type StatementClass } from '#libs/typesystem';

import { abortable, DriverFailure } from '../driver-failure.js';
import type { Access, BoundStatement, Cursor, DriverConnection, TableWriter, WriteTarget } from '../driver.js';
import { settledWithin } from '../patience.js';
import { Stopper } from '../stopper.js';
import { TransactionWriter } from '../transaction-writer.js';
import { openSqliteCursor, sqliteValue } from './cursor.js';
import { SqliteProcess } from './process.js';
import type { SqliteReply, SqliteRequest, SqliteValue } from './protocol.js';
import { SqliteWriteSteps } from './table-writer.js';

export interface SqliteOpening {
  /** Canonical path, or `:memory:`. */
  file: string;
  access: Access;
  busyTimeoutMs: number;
  /** Whether a journal left by a killed writer may be rolled back on opening. */
  recover: boolean;
}

/** How long a COMMIT that nobody waits for any more may take before its process is ended. */
const COMMIT_PATIENCE_MS = 2000;

/** One connection in a child process; the process is the unit of cancelling (06 §2). */
export class SqliteConnection implements DriverConnection {
  readonly serves: Access;
  readonly #process = new SqliteProcess();

  /** Nothing stops SQLite in the middle of a statement but the end of its process. */
  readonly #stopper: Stopper;
  readonly #finisher: Stopper;

  private constructor(access: Access) {
    this.serves = access;
    const process = this.#process;
    const line = {
      get isLost(): boolean {
        return !process.alive;
      },
      destroy: () => process.kill(),
    };
    this.#stopper = new Stopper(line, { stop: () => Promise.resolve() });
    this.#finisher = new Stopper(line, { stop: (commit) => settledWithin(commit, COMMIT_PATIENCE_MS) });
  }

  static async open(opening: SqliteOpening, signal: AbortSignal): Promise<SqliteConnection> {
    const connection = new SqliteConnection(opening.access);
    const { file, access, busyTimeoutMs, recover } = opening;
    // Memory belongs to its one connection, so a read-only one could never hold anything.
    const readOnly = access === 'read' && file !== ':memory:';
    try {
      await connection.ask({ op: 'open', file, readOnly, busyTimeoutMs, recover }, signal);
      return connection;
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  /** Of the child, for whoever watches processes. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  get usable(): boolean {
    return this.#process.alive;
  }

  async openCursor(statement: BoundStatement, { signal }: { fetchSize: number; signal: AbortSignal }): Promise<Cursor> {
    this.#oneStatement(statement.sql);
    return await openSqliteCursor(this, statement, signal);
  }

  async execute(statement: BoundStatement, { signal }: { signal: AbortSignal }): Promise<number> {
    const statementClass = this.#oneStatement(statement.sql);
    const values = statement.values.map(sqliteValue);
    const { changes } = await this.ask({ op: 'execute', sql: statement.sql, values }, signal);
    // After a DDL the engine still tells the count of the DML before it.
    return statementClass === 'DML' ? Number(changes) : 0;
  }

  async beginWrite(target: WriteTarget, { signal }: { signal: AbortSignal }): Promise<TableWriter> {
    return await TransactionWriter.begin(this, new SqliteWriteSteps(this, target), signal);
  }

  /** All rows of the driver's own SQL, unguarded. */
  async own(sql: string, signal: AbortSignal, values: readonly unknown[] = []): Promise<(string | null)[][]> {
    const { rows } = await this.ask({ op: 'query', sql, values: values.map(sqliteValue) }, signal);
    return rows.map((row) => row.map((value) => (value === null ? null : String(value))));
  }

  catalog(statement: BoundStatement, signal: AbortSignal): Promise<(string | null)[][]> {
    return this.own(statement.sql, signal, statement.values);
  }

  ask<Op extends SqliteRequest['op']>(
    request: Extract<SqliteRequest, { op: Op }>,
    signal: AbortSignal,
  ): Promise<Extract<SqliteReply, { ok: true; op: Op }>> {
    return this.stoppable(this.#process.ask<Op>(request), signal);
  }

  /** The driver's own statement of a write-back, which its writer makes stoppable. */
  async run(sql: string): Promise<void> {
    await this.#process.ask<'query'>({ op: 'query', sql, values: [] });
  }

  /** Runs an INSERT for each row. */
  async insert(sql: string, rows: readonly (readonly SqliteValue[])[]): Promise<void> {
    await this.#process.ask<'insert'>({ op: 'insert', sql, rows });
  }

  stoppable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#stopper.stoppable(work, signal);
  }

  /** For a COMMIT, which is given a moment: what the engine answers then stands. */
  completion<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#finisher.completion(work, signal);
  }

  async ping(timeoutMs: number): Promise<void> {
    await abortable(this.own('SELECT 1', new AbortController().signal), AbortSignal.timeout(timeoutMs));
  }

  /** Temporary tables are the only thing a session keeps, and they go with the process; a reader cannot make any. */
  reset(): Promise<boolean> {
    return Promise.resolve(this.usable && this.serves === 'read');
  }

  close(): Promise<void> {
    this.#process.disconnect();
    return Promise.resolve();
  }

  destroy(): void {
    this.#process.kill();
  }

  /** SQLite compiles the first statement and silently drops the rest. */
  #oneStatement(sql: string): StatementClass {
    const verdict = classifyStatement('SQLITE', sql);
    if (verdict.ok && verdict.keyword !== 'VACUUM') return verdict.class;
    throw verdict.ok
      ? new DriverFailure('other', 'VACUUM cannot be run through a datasource.', { reason: 'statement_refused' })
      : new DriverFailure('other', 'The text must hold exactly one statement.', { reason: verdict.reason });
  }
}
