import { classifyStatement, type StatementClass } from '#libs/typesystem';

import { abortable, cancelled, DriverFailure } from '../driver-failure.js';
import type { Access, BoundStatement, Cursor, DriverConnection, TableWriter, WriteTarget } from '../driver.js';
import { openSqliteCursor, sqliteValue } from './cursor.js';
import { SqliteProcess } from './process.js';
import type { SqliteReply, SqliteRequest } from './protocol.js';
import { SqliteTableWriter } from './table-writer.js';

export interface SqliteOpening {
  /** Canonical path, or `:memory:`. */
  file: string;
  access: Access;
  busyTimeoutMs: number;
  /** Whether a journal left by a killed writer may be rolled back on opening. */
  recover: boolean;
}

/** One connection in a child process; the process is the unit of cancelling (06 §2). */
export class SqliteConnection implements DriverConnection {
  readonly serves: Access;
  readonly #process = new SqliteProcess();

  private constructor(access: Access) {
    this.serves = access;
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
    return await SqliteTableWriter.begin(this, target, signal);
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

  /** On abort the process is killed: nothing else stops SQLite in the middle of a statement. */
  async stoppable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    const onAbort = (): void => this.#process.kill();
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await work;
    } catch (error) {
      if (signal.aborted) throw cancelled(signal);
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
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
