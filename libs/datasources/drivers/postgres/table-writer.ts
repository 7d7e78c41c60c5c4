import { quoteIdentifier, type ColumnBatch } from '#libs/typesystem';

import { deferred } from '../deferred.js';
import { DriverFailure } from '../driver-failure.js';
import type { TableWriter, WorkOptions, WriteTarget } from '../driver.js';
import { quoteTable } from '../quote-table.js';
import { committed } from '../transaction-writer.js';
import type { PostgresConnection } from './connection.js';
import { encodeCopyRows } from './copy-text.js';
import { exchange } from './exchange.js';
import { copyData, COPY_DONE, copyFail, failureOf, MESSAGE, query } from './messages.js';
import { backstop } from './session-settings.js';
import type { MessageConsumer } from './wire.js';

/** TRUNCATE waits for every reader of the table; past this it gives way to DELETE, which waits for none. */
const TRUNCATE_LOCK_WAIT = '1s';

/**
 * A write-back as one transaction: emptied first when the mode is `replace`, filled by COPY, committed by the caller
 * once the source ended cleanly (02 §5.4).
 */
export class PostgresTableWriter implements TableWriter, MessageConsumer {
  readonly #connection: PostgresConnection;
  readonly #signal: AbortSignal;
  readonly #target: WriteTarget;
  /** Settles with COPY itself: resolved when the server is ready again, rejected by the server's refusal or a lost connection. */
  readonly #copied = deferred<void>();
  readonly #begun = deferred<void>();
  #failure: DriverFailure | null = null;

  private constructor(connection: PostgresConnection, target: WriteTarget, signal: AbortSignal) {
    this.#connection = connection;
    this.#target = target;
    this.#signal = signal;
  }

  static async begin(
    connection: PostgresConnection,
    target: WriteTarget,
    { signal, backstopMs: limit }: WorkOptions,
  ): Promise<PostgresTableWriter> {
    const writer = new PostgresTableWriter(connection, target, signal);
    await connection.stoppable(
      connection.control(limit === undefined ? 'BEGIN' : `BEGIN; ${backstop(limit, 'LOCAL')}`),
      signal,
    );
    if (target.mode === 'replace') await writer.#empty();
    const columns = target.columns.map(({ name }) => quoteIdentifier('POSTGRES', name)).join(', ');
    connection.wire.exchange([query(`COPY ${quoteTable('POSTGRES', target.table)} (${columns}) FROM STDIN`)], writer);
    await connection.stoppable(writer.#begun.promise, signal);
    return writer;
  }

  async write(batch: ColumnBatch): Promise<void> {
    this.#refuseAfterFailure();
    for (let from = 0; from < batch.rowCount; from += this.#target.batchRows) {
      const to = Math.min(from + this.#target.batchRows, batch.rowCount);
      this.#connection.wire.write([copyData(encodeCopyRows(batch, from, to))]);
      // A server that is slower than the source holds the source back here.
      if (this.#connection.wire.congested)
        await this.#connection.stoppable(this.#connection.wire.drained(), this.#signal);
      this.#refuseAfterFailure();
    }
  }

  async commit(): Promise<void> {
    this.#refuseAfterFailure();
    this.#connection.wire.write([COPY_DONE]);
    await this.#connection.stoppable(this.#copied.promise, this.#signal);
    const { tag } = await this.#connection.completion(
      committed(exchange(this.#connection.wire, [query('COMMIT')])),
      this.#signal,
    );
    if (tag !== 'COMMIT')
      throw new DriverFailure('other', 'The server rolled the write-back back.', { driverCode: '25P02' });
  }

  async rollback(): Promise<void> {
    if (!this.#connection.usable) return;
    if (!this.#failure) this.#connection.wire.write([copyFail('rolled back')]);
    // COPY must have answered before the next statement is sent, or its answer would be taken for that one's.
    await this.#copied.promise.then(ignore, ignore);
    if (this.#connection.usable) await this.#connection.control('ROLLBACK');
  }

  message(type: number, buffer: Buffer, start: number, end: number): void {
    if (type === MESSAGE.copyIn) this.#begun.resolve();
    else if (type === MESSAGE.error) this.#failure ??= failureOf(buffer.subarray(start, end));
    else if (type === MESSAGE.readyForQuery) {
      this.#connection.wire.release(this);
      if (this.#failure) this.#reject(this.#failure);
      else this.#copied.resolve();
    }
  }

  closed(failure: DriverFailure): void {
    this.#failure ??= failure;
    this.#reject(this.#failure);
  }

  #refuseAfterFailure(): void {
    if (this.#failure) throw this.#failure;
  }

  #reject(failure: DriverFailure): void {
    this.#begun.reject(failure);
    this.#copied.reject(failure);
  }

  /** Only TRUNCATE is given a second way; a table that is missing is missing for DELETE too. */
  async #empty(): Promise<void> {
    const table = quoteTable('POSTGRES', this.#target.table);
    const truncate = `SAVEPOINT dp_empty; SET LOCAL lock_timeout='${TRUNCATE_LOCK_WAIT}'; TRUNCATE ${table}; SET LOCAL lock_timeout=0`;
    try {
      await this.#connection.stoppable(this.#connection.control(truncate), this.#signal);
    } catch (error) {
      if (!(error instanceof DriverFailure) || error.kind === 'missing_table' || !this.#connection.usable) throw error;
      await this.#connection.stoppable(
        this.#connection.control(`ROLLBACK TO SAVEPOINT dp_empty; DELETE FROM ${table}`),
        this.#signal,
      );
    }
  }
}

function ignore(): void {
  // The failure was reported where it was met.
}
