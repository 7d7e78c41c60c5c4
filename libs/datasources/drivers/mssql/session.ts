import { DriverFailure } from '../driver-failure.js';
import type { BoundStatement } from '../driver.js';
import type { Cell, ColumnMetadata, RawConnection, TediousRequest } from './client.js';
import { mssqlFailure } from './failure.js';
import type { MssqlLibrary } from './library.js';

/** Takes the rows of a statement as they come. */
export interface RowSink {
  describe(columns: readonly ColumnMetadata[]): void;
  row(values: readonly unknown[]): void;
}

/** A statement under way: its end, and the brake on its rows. */
export interface Running {
  done: Promise<number>;
  pause(): void;
  resume(): void;
}

/** A logged-in connection with promises for its requests: when it is lost, everything that waits on it rejects. */
export class MssqlSession {
  readonly library: MssqlLibrary;
  readonly #raw: RawConnection;
  readonly #waiting = new Set<(failure: DriverFailure) => void>();
  #lost: DriverFailure | null = null;

  constructor(raw: RawConnection, library: MssqlLibrary) {
    this.#raw = raw;
    this.library = library;
    raw.on('error', (error: unknown) => this.#lose(mssqlFailure(error)));
    raw.on('end', () =>
      this.#lose(new DriverFailure('connection', 'The server closed the connection.', { driverCode: 'ECONNCLOSED' })),
    );
  }

  get isLost(): boolean {
    return this.#lost !== null;
  }

  /** The driver's own constant text, several statements allowed. */
  async batch(sql: string): Promise<void> {
    await this.#request(sql, (request) => this.#raw.execSqlBatch(request));
  }

  /** One parameterised statement; rows go to the sink one by one. Gives the rows it touched. */
  run(statement: BoundStatement, sink?: RowSink): Running {
    let active: TediousRequest | undefined;
    const done = this.#request(statement.sql, (request) => {
      active = request;
      this.#bind(request, statement);
      if (sink) this.#feed(request, sink);
      this.#raw.execSql(request);
    });
    return { done, pause: () => active?.pause(), resume: () => active?.resume() };
  }

  /** sp_reset_connection: temporary tables, settings and transactions are gone. */
  reset(): Promise<void> {
    return this.#settled((done) => this.#raw.reset(done));
  }

  /** Tells the server to stop; the request under way then ends as cancelled. */
  cancel(): void {
    if (!this.#lost) this.#raw.cancel();
  }

  end(): void {
    this.#lost ??= new DriverFailure('connection', 'The connection was closed.');
    this.#raw.close();
  }

  destroy(): void {
    this.#lose(new DriverFailure('connection', 'The connection was destroyed.'));
    this.#raw.close();
  }

  #request(sql: string, send: (request: TediousRequest) => void): Promise<number> {
    return this.#settled((done) => send(new this.library.Request(sql, done)));
  }

  /** The n-th value is parameter `dp_n` (01 §4.4). */
  #bind(request: TediousRequest, { values, driverTypes }: BoundStatement): void {
    for (const [index, value] of values.entries()) {
      const name = driverTypes?.[index] ?? (typeof value === 'number' ? 'Int' : 'NVarChar');
      const type = this.library.TYPES[name];
      if (type === undefined) throw new TypeError(`no protocol type ${name}`);
      const given = value instanceof Uint8Array && !Buffer.isBuffer(value) ? Buffer.from(value) : value;
      request.addParameter(`dp_${index + 1}`, type, given ?? null);
    }
  }

  /** A row that the sink refuses ends the connection: the statement is out of step with what was promised of it. */
  #feed(request: TediousRequest, sink: RowSink): void {
    const guarded = (take: () => void): void => {
      if (this.#lost) return;
      try {
        take();
      } catch (error) {
        this.#lose(
          error instanceof DriverFailure ? error : new DriverFailure('other', String(error), { cause: error }),
        );
        this.#raw.close();
      }
    };
    request.on('columnMetadata', (columns: ColumnMetadata[]) => guarded(() => sink.describe(columns)));
    request.on('row', (cells: Cell[]) => guarded(() => sink.row(cells.map(({ value }) => value))));
  }

  #settled<T>(start: (done: (error: unknown, result?: T) => void) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#lost) return reject(this.#lost);
      this.#waiting.add(reject);
      start((error, result) => {
        this.#waiting.delete(reject);
        if (error) reject(this.#lost ?? mssqlFailure(error));
        else resolve(result as T);
      });
    });
  }

  #lose(failure: DriverFailure): void {
    this.#lost ??= failure;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const reject of waiting) reject(this.#lost);
  }
}
