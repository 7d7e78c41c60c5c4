import { abortable, DriverFailure } from '../driver-failure.js';
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
import { Stopper } from '../stopper.js';
import type { Canceller } from './canceller.js';
import { openMysqlCursor } from './cursor.js';
import { typedValues } from './parameters.js';
import type { SessionSettings } from './session-settings.js';
import type { MysqlSession } from './session.js';
import { MysqlTableWriter } from './table-writer.js';

/** "This command is not supported in the prepared statement protocol yet." */
const UNSUPPORTED_PS = 'ER_UNSUPPORTED_PS';

/** One authenticated session. Author text is always one prepared statement. */
export class MysqlConnection implements DriverConnection {
  readonly serves = 'both';
  readonly session: MysqlSession;
  readonly settings: SessionSettings;
  readonly tinyIsBoolean: boolean;
  readonly #stopper: Stopper;

  constructor(session: MysqlSession, settings: SessionSettings, canceller: Canceller, tinyIsBoolean: boolean) {
    this.session = session;
    this.settings = settings;
    this.#stopper = new Stopper(session, canceller, { distrustsResults: true });
    this.tinyIsBoolean = tinyIsBoolean;
  }

  get usable(): boolean {
    return this.#stopper.usable;
  }

  async openCursor(statement: BoundStatement, options: ReadOptions): Promise<Cursor> {
    oneStatement('MYSQL', statement.sql, ['DQL']);
    await this.#limit(options);
    return await openMysqlCursor(this, statement, options);
  }

  async execute(statement: BoundStatement, options: WorkOptions): Promise<number> {
    const { signal } = options;
    const statementClass = oneStatement('MYSQL', statement.sql, ['DML', 'DDL']);
    await this.#limit(options);
    const affected = await this.stoppable(this.#run(statement), signal);
    return statementClass === 'DML' ? affected : 0;
  }

  async beginWrite(target: WriteTarget, options: WorkOptions): Promise<TableWriter> {
    await this.#limit(options);
    return await MysqlTableWriter.begin(this, target, options.signal);
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
    await abortable(this.session.ping(), AbortSignal.timeout(timeoutMs));
  }

  async reset(): Promise<boolean> {
    if (!this.usable) return false;
    try {
      await this.session.reset();
      await this.settings.apply(this.session);
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

  async #limit({ signal, backstopMs }: WorkOptions): Promise<void> {
    if (backstopMs !== undefined) await this.stoppable(this.settings.backstop(this.session, backstopMs), signal);
  }

  async #run(statement: BoundStatement): Promise<number> {
    const { session } = this;
    try {
      const prepared = await session.prepare(statement.sql);
      return await session.execute(prepared, typedValues(statement, session.library.TypedParameter));
    } catch (error) {
      const unprepared = error instanceof DriverFailure && error.driverCode === UNSUPPORTED_PS;
      if (!unprepared || statement.values.length > 0) throw error;
      await session.query(statement.sql);
      return 0;
    } finally {
      session.unprepare(statement.sql);
    }
  }

  async #readCatalog(statement: BoundStatement): Promise<(string | null)[][]> {
    const { session } = this;
    await session.query('START TRANSACTION READ ONLY');
    const prepared = await session.prepare(statement.sql);
    const rows = await session.rows(prepared, typedValues(statement, session.library.TypedParameter));
    session.unprepare(statement.sql);
    await session.query('ROLLBACK');
    return (rows as unknown[][]).map((row) => row.map(textOf));
  }
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return Buffer.isBuffer(value) ? value.toString('utf8') : String(value);
}
