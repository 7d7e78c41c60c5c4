import type {
  BoundStatement,
  Cursor,
  DriverConnection,
  ReadOptions,
  TableWriter,
  WorkOptions,
  WriteTarget,
} from '../driver.js';
import { backstop, setSession } from './session-settings.js';
import { ServerConnection } from '../server-connection.js';
import type { Canceller } from './canceller.js';
import { openPostgresCursor } from './cursor.js';
import { exchange, exchangeWithoutRows, type ExchangeResult } from './exchange.js';
import { bind, execute, parse, query, SYNC, TERMINATE } from './messages.js';
import { endRead, readEnding, type ReadEnding } from './read-end.js';
import { PostgresTableWriter } from './table-writer.js';
import type { TypeNames } from './type-names.js';
import { wireValue } from './wire-value.js';
import type { PostgresWire } from './wire.js';

/** One authenticated session. All author text goes through the extended protocol: one statement per call. */
export class PostgresConnection extends ServerConnection implements DriverConnection {
  readonly wire: PostgresWire;
  readonly types: TypeNames;
  /** What a session of this server begins with. */
  #settings = '';
  #readEnding: ReadEnding | undefined;
  /** Exchanges begun when the session was last put back to its first state. */
  #cleanSince = -1;

  constructor(wire: PostgresWire, canceller: Canceller, types: TypeNames) {
    super(wire, canceller);
    this.wire = wire;
    this.types = types;
  }

  /** Before the first statement. */
  async setUp(): Promise<void> {
    this.#settings = await setSession((sql) => this.control(sql));
    this.#readEnding = undefined;
  }

  openCursor(statement: BoundStatement, options: ReadOptions): Promise<Cursor> {
    return openPostgresCursor(this, statement, options);
  }

  async execute(statement: BoundStatement, { signal, backstopMs }: WorkOptions): Promise<number> {
    const limit = backstopMs === undefined ? [] : [query(backstop(backstopMs, 'SESSION'))];
    const messages = [...limit, ...oneStatement(statement)];
    const { affected } = await this.stoppable(exchangeWithoutRows(this.wire, messages, limit.length + 1), signal);
    return affected;
  }

  async beginWrite(target: WriteTarget, options: WorkOptions): Promise<TableWriter> {
    return await PostgresTableWriter.begin(this, target, options);
  }

  /** One statement by the extended protocol, all its rows as text: for the driver's own catalog reads. */
  run(statement: BoundStatement): Promise<ExchangeResult> {
    return exchange(this.wire, oneStatement(statement));
  }

  /** The driver's own constant text, several statements allowed. */
  control(sql: string): Promise<ExchangeResult> {
    return exchange(this.wire, [query(sql)]);
  }

  /** Leaves the session as the next lease wants it, so that giving the connection back costs no exchange of its own. */
  get readEnding(): ReadEnding {
    this.#readEnding ??= readEnding(this.#scrub);
    return this.#readEnding;
  }

  async endRead(sent = false): Promise<void> {
    if (await endRead(this.wire, this.readEnding, sent)) this.#cleanSince = this.wire.exchanges;
  }

  get #scrub(): string[] {
    return ['DISCARD ALL', this.#settings];
  }

  close(): Promise<void> {
    this.wire.end(TERMINATE);
    return Promise.resolve();
  }

  protected override async readCatalog(statement: BoundStatement): Promise<(string | null)[][]> {
    const messages = [query('BEGIN TRANSACTION READ ONLY'), ...oneStatement(statement), query('ROLLBACK')];
    return (await exchange(this.wire, messages, 3)).rows;
  }

  protected override answer(): Promise<unknown> {
    return this.control('');
  }

  /** DISCARD ALL forgets temporary tables, prepared statements, locks and settings, so the next lease meets none of them. */
  protected override async putBack(): Promise<void> {
    if (this.#cleanSince === this.wire.exchanges) return;
    if (this.wire.status !== 'I') await this.control('ROLLBACK');
    const scrub = this.#scrub.map(query);
    await exchange(this.wire, scrub, scrub.length);
  }
}

function oneStatement({ sql, values }: BoundStatement): Buffer[] {
  return [parse(sql), bind(values.map(wireValue), []), execute(0), SYNC];
}
