import { DriverFailure } from '../driver-failure.js';
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
import { ServerConnection } from '../server-connection.js';
import { TransactionWriter } from '../transaction-writer.js';
import type { Canceller } from './canceller.js';
import { openMysqlCursor } from './cursor.js';
import { typedValues } from './parameters.js';
import type { SessionSettings } from './session-settings.js';
import type { MysqlSession } from './session.js';
import { MysqlWriteSteps } from './table-writer.js';

/** "This command is not supported in the prepared statement protocol yet." */
const UNSUPPORTED_PS = 'ER_UNSUPPORTED_PS';

/** One authenticated session. Author text is always one prepared statement. */
export class MysqlConnection extends ServerConnection implements DriverConnection {
  readonly session: MysqlSession;
  readonly settings: SessionSettings;
  readonly tinyIsBoolean: boolean;

  constructor(session: MysqlSession, settings: SessionSettings, canceller: Canceller, tinyIsBoolean: boolean) {
    super(session, canceller, { distrustsResults: true });
    this.session = session;
    this.settings = settings;
    this.tinyIsBoolean = tinyIsBoolean;
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
    return await TransactionWriter.begin(this, new MysqlWriteSteps(this, target), options.signal);
  }

  close(): Promise<void> {
    this.session.end();
    return Promise.resolve();
  }

  protected override answer(): Promise<unknown> {
    return this.session.ping();
  }

  protected override async putBack(): Promise<void> {
    await this.session.reset();
    await this.settings.apply(this.session);
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

  protected override async readCatalog(statement: BoundStatement): Promise<(string | null)[][]> {
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
