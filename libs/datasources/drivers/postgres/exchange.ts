import { DriverFailure } from '../driver-failure.js';
import { failureOf, MESSAGE, readFields, rowsOf, type FieldDescription } from './messages.js';
import type { MessageConsumer, PostgresWire } from './wire.js';

export interface ExchangeResult {
  /** One entry per row of text values, for the driver's own catalog queries. */
  rows: (string | null)[][];
  /** Rows touched by the last command. */
  affected: number;
  /** The last command's tag: a COMMIT of a failed transaction answers `ROLLBACK`. */
  tag: string;
  /** The columns of the last statement described. */
  fields: FieldDescription[];
}

/**
 * Sends messages that end in `readies` Sync or Query messages and waits for as many ReadyForQuery. Rejects with the
 * first error the server reported, after the last ReadyForQuery, so the connection is in step again.
 */
export function exchange(wire: PostgresWire, messages: readonly Buffer[], readies = 1): Promise<ExchangeResult> {
  return new Promise((resolve, reject) => {
    const consumer = new Exchange(wire, readies, true, resolve, reject);
    wire.exchange(messages, consumer);
  });
}

/** As {@link exchange} for author text: the rows of a RETURNING may be any number, so they are let go as they come. */
export function exchangeWithoutRows(
  wire: PostgresWire,
  messages: readonly Buffer[],
  readies = 1,
): Promise<ExchangeResult> {
  return new Promise((resolve, reject) => {
    const consumer = new Exchange(wire, readies, false, resolve, reject);
    wire.exchange(messages, consumer);
  });
}

class Exchange implements MessageConsumer {
  readonly #wire: PostgresWire;
  readonly #keepsRows: boolean;
  readonly #resolve: (result: ExchangeResult) => void;
  readonly #reject: (failure: DriverFailure) => void;
  #readies: number;
  #rows: (string | null)[][] = [];
  #tag = '';
  #fields: FieldDescription[] = [];
  #failure: DriverFailure | null = null;

  constructor(
    wire: PostgresWire,
    readies: number,
    keepsRows: boolean,
    resolve: (result: ExchangeResult) => void,
    reject: (failure: DriverFailure) => void,
  ) {
    this.#wire = wire;
    this.#readies = readies;
    this.#keepsRows = keepsRows;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  message(type: number, buffer: Buffer, start: number, end: number): void {
    if (type === MESSAGE.dataRow) {
      if (this.#keepsRows) this.#rows.push(textRow(buffer, start));
    } else if (type === MESSAGE.commandComplete) this.#tag = buffer.toString('utf8', start, end - 1);
    else if (type === MESSAGE.rowDescription) this.#fields = readFields(buffer.subarray(start, end));
    else if (type === MESSAGE.error) this.#failure ??= failureOf(buffer.subarray(start, end));
    else if (type === MESSAGE.readyForQuery) {
      this.#readies -= 1;
      if (this.#readies > 0) return;
      this.#wire.release(this);
      if (this.#failure) this.#reject(this.#failure);
      else this.#resolve({ rows: this.#rows, affected: rowsOf(this.#tag), tag: this.#tag, fields: this.#fields });
    }
  }

  closed(failure: DriverFailure): void {
    this.#reject(failure);
  }
}

function textRow(buffer: Buffer, start: number): (string | null)[] {
  const count = buffer.readUInt16BE(start);
  const row: (string | null)[] = [];
  let at = start + 2;
  for (let column = 0; column < count; column += 1) {
    const length = buffer.readInt32BE(at);
    at += 4;
    if (length < 0) row.push(null);
    else {
      row.push(buffer.toString('utf8', at, at + length));
      at += length;
    }
  }
  return row;
}
