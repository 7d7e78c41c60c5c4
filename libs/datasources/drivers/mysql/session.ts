import { DriverFailure } from '../driver-failure.js';
import { listenAnew, onSilence } from '../silence.js';
import type { ExecuteCommand, FieldPacket, Mysql2, RawConnection, RowPacket, Statement } from './client.js';
import { mysqlFailure } from './failure.js';

/** Takes the rows of a statement as they come. */
export interface RowSink {
  describe(fields: readonly FieldPacket[]): void;
  row(packet: RowPacket): void;
}

const DISCARD: RowSink = { describe: () => undefined, row: () => undefined };

/** A logged-in connection with promises for its commands: when it is lost, everything that waits on it rejects. */
export class MysqlSession {
  readonly library: Mysql2;
  readonly #raw: RawConnection;
  readonly #waiting = new Set<(failure: DriverFailure) => void>();
  #lost: DriverFailure | null = null;
  #paused = false;

  constructor(raw: RawConnection, library: Mysql2) {
    this.#raw = raw;
    this.library = library;
    raw.on('error', (error: unknown) => this.#lose(mysqlFailure(error)));
  }

  /** The server's number of this connection, for KILL. */
  get threadId(): number {
    return this.#raw.threadId ?? 0;
  }

  get isLost(): boolean {
    return this.#lost !== null;
  }

  /** Several statements never run from one text; the rows are arrays. */
  query(sql: string): Promise<unknown> {
    return this.#command((done) => this.#raw.query({ sql, rowsAsArray: true }, done));
  }

  prepare(sql: string): Promise<Statement> {
    return this.#command((done) => this.#raw.prepare(sql, done));
  }

  /** Frees a prepared statement in the server, without an answer to wait for. */
  unprepare(sql: string): void {
    if (!this.#lost) this.#raw.unprepare(sql);
  }

  /** All rows of a prepared statement, as the library reads them: for the driver's own catalog queries. */
  rows(statement: Statement, values: readonly unknown[]): Promise<unknown> {
    return this.#command((done) => statement.execute(values, done));
  }

  /** Runs a prepared statement and gives the count of rows it touched. Rows it returns go to the sink one by one. */
  execute(statement: Statement, values: readonly unknown[], sink: RowSink = DISCARD): Promise<number> {
    return this.#command((done) => {
      let affected = 0;
      let failure: unknown;
      const command = this.#withSink(statement.execute(values), sink);
      command.on('result', (result: unknown) => (affected += affectedBy(result)));
      command.on('error', (error: unknown) => (failure ??= error));
      command.on('end', () => (failure === undefined ? done(null, affected) : done(failure)));
    });
  }

  ping(): Promise<void> {
    return this.#command((done) => this.#raw.ping(done));
  }

  /** COM_RESET_CONNECTION: ends the transaction and forgets temporary tables, variables, locks and statements. */
  reset(): Promise<void> {
    return this.#command((done) => this.#raw.reset(done));
  }

  /** Rows that the server sends wait in the socket until `resume`. */
  pause(): void {
    this.#paused = true;
    this.#raw.pause();
  }

  resume(): void {
    if (this.#paused) listenAnew(this.#raw.stream);
    this.#paused = false;
    if (!this.#lost) this.#raw.resume();
  }

  onSilence(milliseconds: number): void {
    onSilence(this.#raw.stream, milliseconds, () => {
      if (this.#waiting.size === 0 || this.#paused) return;
      this.#lose(
        new DriverFailure('connection', `The server sent nothing for ${milliseconds} ms.`, { driverCode: 'ETIMEDOUT' }),
      );
      this.#raw.stream.destroy();
    });
  }

  end(): void {
    if (this.#lost) return;
    this.#lost = new DriverFailure('connection', 'The connection was closed.');
    this.#raw.end(() => this.#raw.stream.destroy());
  }

  destroy(): void {
    this.#lose(new DriverFailure('connection', 'The connection was destroyed.'));
    this.#raw.destroy();
    this.#raw.stream.destroy();
  }

  /** The library leaves commands unanswered when a connection is closed from this side. */
  #command<T>(start: (done: (error: unknown, result?: unknown) => void) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#lost) return reject(this.#lost);
      this.#waiting.add(reject);
      start((error, result) => {
        this.#waiting.delete(reject);
        if (error) reject(mysqlFailure(error));
        else resolve(result as T);
      });
    });
  }

  /** Rows go from the packet to the sink: no array per row, and no value through a double. */
  #withSink(command: ExecuteCommand, sink: RowSink): ExecuteCommand {
    command.buildParserFromFields = (fields) => {
      sink.describe(fields);
      return class {
        next(packet: RowPacket): void {
          sink.row(packet);
        }
      };
    };
    return command;
  }

  #lose(failure: DriverFailure): void {
    this.#lost ??= failure;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const reject of waiting) reject(this.#lost);
  }
}

/** The completion packet of a statement without rows; a row's own result is nothing. */
function affectedBy(result: unknown): number {
  if (typeof result !== 'object' || result === null || !('affectedRows' in result)) return 0;
  return typeof result.affectedRows === 'number' ? result.affectedRows : 0;
}
