import type {
  BoundStatement,
  Cursor,
  DriverConnection,
  ReadOptions,
  TableWriter,
  WorkOptions,
  WriteTarget,
} from '../driver.js';
import { oneStatement } from '../one-statement.js';
import type { Canceller } from '../postgres/canceller.js';
import { PostgresCursor, type CursorHost, type ReadProtocol } from '../postgres/cursor.js';
import { exchange, exchangeWithoutRows, type ExchangeResult } from '../postgres/exchange.js';
import {
  bind,
  DESCRIBE_STATEMENT,
  execute,
  FLUSH,
  parse,
  query,
  SYNC,
  TERMINATE,
  type ResultFormat,
} from '../postgres/messages.js';
import { rolledBack } from '../postgres/read-end.js';
import { wireValue } from '../postgres/wire-value.js';
import type { PostgresWire } from '../postgres/wire.js';
import { ServerConnection } from '../server-connection.js';
import { TransactionWriter } from '../transaction-writer.js';
import { describeH2Column } from './columns.js';
import { h2Failure } from './failure.js';
import { readingStatement } from './read-gate.js';
import { H2WriteSteps } from './table-writer.js';

const READING: ReadProtocol = { fetchesAtOnce: 1 };
/** Longest QUERY_TIMEOUT. */
const MOST_BACKSTOP_MS = 2_147_483_647;

/** PostgreSQL's number of bytea: without it the server takes bytes for text. */
const BYTEA = 17;

/**
 * One session of H2's PostgreSQL-protocol server. It runs two statements of one text, and after a failed Parse or Bind it
 * goes on with what was parsed or bound before: every text is counted here first, each step waits for the answer to the
 * one before, and an error ends the session (06 §2).
 */
export class H2Connection extends ServerConnection implements DriverConnection, CursorHost {
  readonly wire: PostgresWire;
  readonly #settings: string;
  /** Something ran that may have left its mark on the session: temporary tables, variables, settings. */
  #marked = false;

  /** @param settings statements that every lease begins with */
  constructor(wire: PostgresWire, canceller: Canceller, settings: string) {
    super(wire, canceller, { brokenByErrors: true });
    this.wire = wire;
    this.#settings = settings;
    wire.nudgeWith(FLUSH);
  }

  async openCursor(statement: BoundStatement, { fetchSize, ...options }: ReadOptions): Promise<Cursor> {
    const { signal } = options;
    readingStatement(statement.sql);
    await this.#limit(options);
    if (statement.sql.includes('@')) this.#marked = true;
    const columns = await this.stoppable(this.#beginRead(statement), signal);
    const cursor = new PostgresCursor(this, columns, fetchSize, READING);
    cursor.start([]);
    return cursor;
  }

  async execute(statement: BoundStatement, options: WorkOptions): Promise<number> {
    const { signal } = options;
    const statementClass = oneStatement('H2', statement.sql, ['DML', 'DDL']);
    this.#marked = true;
    await this.#limit(options);
    const { affected } = await this.stoppable(this.#run(statement), signal);
    return statementClass === 'DML' ? affected : 0;
  }

  async beginWrite(target: WriteTarget, options: WorkOptions): Promise<TableWriter> {
    await this.#limit(options);
    return await TransactionWriter.begin(this, new H2WriteSteps(this, target), options.signal);
  }

  /** The driver's own constant text. */
  async control(sql: string): Promise<ExchangeResult> {
    return await exchange(this.wire, [query(sql)]);
  }

  /** Parses a statement, and only then anything may be bound to it. */
  async prepare(statement: BoundStatement): Promise<ExchangeResult> {
    const types = statement.values.map((value) => (value instanceof Uint8Array ? BYTEA : 0));
    await exchange(this.wire, [parse(statement.sql, types), SYNC]);
    return await exchange(this.wire, [DESCRIBE_STATEMENT, SYNC]);
  }

  async bindTo(values: readonly unknown[], formats: readonly ResultFormat[] = []): Promise<void> {
    await exchange(this.wire, [bind(values.map(wireValue), formats), SYNC]);
  }

  override stoppable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    return withOwnCodes(super.stoppable(work, signal));
  }

  override completion<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    return withOwnCodes(super.completion(work, signal));
  }

  async endRead(): Promise<void> {
    const { tag } = await exchange(this.wire, [SYNC, query('ROLLBACK')], 2);
    if (tag !== 'UPDATE 0') throw rolledBack();
  }

  close(): Promise<void> {
    this.wire.end(TERMINATE);
    return Promise.resolve();
  }

  protected override get restorable(): boolean {
    return !this.#marked;
  }

  protected override answer(): Promise<unknown> {
    return this.control('SELECT 1');
  }

  protected override async putBack(): Promise<void> {
    await this.control('ROLLBACK');
    await this.control(this.#settings);
  }

  async #limit({ signal, backstopMs }: WorkOptions): Promise<void> {
    if (backstopMs === undefined) return;
    const most = Math.min(Math.max(Math.ceil(backstopMs), 1), MOST_BACKSTOP_MS);
    await this.stoppable(this.control(`SET QUERY_TIMEOUT ${most}`), signal);
  }

  async #beginRead(statement: BoundStatement): Promise<ReturnType<typeof describeH2Column>[]> {
    await this.control('BEGIN');
    const { fields } = await this.prepare(statement);
    const columns = fields.map(describeH2Column);
    await this.bindTo(
      statement.values,
      columns.map(({ format }) => format),
    );
    return columns;
  }

  async #run(statement: BoundStatement): Promise<ExchangeResult> {
    await this.prepare(statement);
    await this.bindTo(statement.values);
    return await exchangeWithoutRows(this.wire, [execute(0), SYNC]);
  }

  protected override async readCatalog(statement: BoundStatement): Promise<(string | null)[][]> {
    await this.control('BEGIN');
    await this.prepare(statement);
    await this.bindTo(statement.values);
    const { rows } = await exchange(this.wire, [execute(0), SYNC]);
    await this.control('ROLLBACK');
    return rows;
  }
}

async function withOwnCodes<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw h2Failure(error);
  }
}
