import type { DuckDBConnection } from '@duckdb/node-api';

import { abortable, cancelled, DriverFailure } from '../driver-failure.js';
import type { BoundStatement, Cursor, DriverConnection, TableWriter, WriteTarget } from '../driver.js';
import { committed } from '../transaction-writer.js';
import { openDuckdbCursor } from './cursor.js';
import { duckdbFailure } from './failure.js';
import type { NativeCalls } from './native-calls.js';
import { bindValues, prepareOne } from './statement.js';
import { DuckdbTableWriter } from './table-writer.js';

/** An interrupt that comes before the engine has begun the statement is lost, so it is sent again (02 §5.2). */
const INTERRUPT_EVERY_MS = 250;
const INTERRUPTS = 8;
const NEVER = new AbortController().signal;

/** One session of a shared engine. */
export class DuckdbConnection implements DriverConnection {
  readonly serves = 'both';
  readonly #native: DuckDBConnection;
  readonly #calls: NativeCalls;
  readonly #onClose: () => void;
  /** Disconnecting under a running call would free what it uses: closing waits for the last one. */
  #running: Promise<unknown> = Promise.resolve();
  #usable = true;
  #closed = false;

  constructor(native: DuckDBConnection, calls: NativeCalls, onClose: () => void) {
    this.#native = native;
    this.#calls = calls;
    this.#onClose = onClose;
  }

  get usable(): boolean {
    return this.#usable && !this.#closed;
  }

  /** One native call at a time. On abort the engine is interrupted, the call awaited, and the session given up. */
  call<T>(work: (native: DuckDBConnection) => Promise<T>, signal: AbortSignal): Promise<T> {
    const outcome = this.#calls
      .run(() => this.#interruptible(work, signal), signal)
      .catch((error: unknown) => {
        if (signal.aborted) {
          this.#usable = false;
          throw cancelled(signal);
        }
        throw duckdbFailure(error);
      });
    this.#running = outcome.catch(() => undefined);
    return outcome;
  }

  openCursor(statement: BoundStatement, { signal }: { fetchSize: number; signal: AbortSignal }): Promise<Cursor> {
    return openDuckdbCursor(this, statement, signal);
  }

  async execute(statement: BoundStatement, { signal }: { signal: AbortSignal }): Promise<number> {
    return await this.call(async (native) => {
      const prepared = await prepareOne(native, statement.sql);
      try {
        bindValues(prepared, statement.values);
        return (await prepared.run()).rowsChanged;
      } finally {
        prepared.destroySync();
      }
    }, signal);
  }

  async beginWrite(target: WriteTarget, { signal }: { signal: AbortSignal }): Promise<TableWriter> {
    return await DuckdbTableWriter.begin(this, target, signal);
  }

  async catalog(statement: BoundStatement, signal: AbortSignal): Promise<(string | null)[][]> {
    return await this.call(async (native) => {
      const prepared = await prepareOne(native, statement.sql);
      bindValues(prepared, statement.values);
      const rows = await (await prepared.run()).getRows();
      return rows.map((row) => row.map((value) => (value === null ? null : String(value))));
    }, signal);
  }

  /** A COMMIT is not interrupted: the engine could have done it and still answer that it was cut. */
  async commit(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw cancelled(signal);
    const work = this.call((native) => native.run('COMMIT'), NEVER);
    await committed(work, () => !this.usable);
  }

  async rollback(): Promise<void> {
    await this.#running;
    if (!this.usable) return;
    try {
      await this.call((native) => native.run('ROLLBACK'), NEVER);
    } catch (error) {
      // "No transaction is active" is what a finished read answers; anything worse shows at the next ping.
      if (!(error instanceof DriverFailure)) throw error;
    }
  }

  async ping(timeoutMs: number): Promise<void> {
    await abortable(
      this.call((native) => native.run('SELECT 1'), AbortSignal.timeout(timeoutMs)),
      AbortSignal.timeout(timeoutMs),
    );
  }

  /** A session keeps temporary tables and a search path, so it is never handed out twice; a new one costs nothing. */
  async reset(): Promise<boolean> {
    await this.rollback();
    return false;
  }

  async close(): Promise<void> {
    await this.#running;
    if (this.#closed) return;
    this.#closed = true;
    this.#native.disconnectSync();
    this.#onClose();
  }

  destroy(): void {
    this.#usable = false;
    this.#native.interrupt();
    void this.close();
  }

  async #interruptible<T>(work: (native: DuckDBConnection) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.#closed) throw new DriverFailure('connection', 'The connection is closed.');
    let left = INTERRUPTS;
    let timer: NodeJS.Timeout | undefined;
    const interrupt = (): void => {
      this.#usable = false;
      this.#native.interrupt();
      left -= 1;
      if (left > 0) timer = setTimeout(interrupt, INTERRUPT_EVERY_MS);
    };
    signal.addEventListener('abort', interrupt, { once: true });
    try {
      return await work(this.#native);
    } finally {
      signal.removeEventListener('abort', interrupt);
      clearTimeout(timer);
    }
  }
}
