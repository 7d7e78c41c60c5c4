import { deferred } from '../deferred.js';
import type { DriverFailure } from '../driver-failure.js';
import { exchangeWithoutRows } from './exchange.js';
import { bind, execute, MESSAGE, parse, readFields, SYNC, type FieldDescription } from './messages.js';
import { sameFields } from './read-shapes.js';
import type { PostgresWire } from './wire.js';

/** The driver's own constant statements by the extended protocol: where one fails, nothing behind it is run. */
export function constants(statements: readonly string[]): Buffer[] {
  return statements.flatMap((sql) => [parse(sql), bind([], []), execute(0)]);
}

/**
 * The part of an answer that comes before the rows of a statement that was executed without asking for its columns: the
 * ends of the statements ahead of it, then its columns. When they are not the expected ones, what else comes is let go.
 */
export class ReadOpening {
  readonly #wire: PostgresWire;
  readonly #expected: readonly FieldDescription[];
  readonly #told = deferred<boolean>();
  readonly #endings: number;
  #ahead: number;
  #over = false;

  /** @param endings ReadyForQuery that will come without being asked for: the end of the read was sent with it */
  constructor(wire: PostgresWire, ahead: number, expected: readonly FieldDescription[], endings = 0) {
    this.#wire = wire;
    this.#ahead = ahead;
    this.#expected = expected;
    this.#endings = endings;
  }

  /** Whether the columns are the expected ones; if not, resolves when the server has heard that nothing of it is wanted. */
  get asExpected(): Promise<boolean> {
    return this.#told.promise;
  }

  /** True when the message belonged to the opening. */
  takes(type: number, buffer: Buffer, start: number, end: number): boolean {
    if (this.#over) return false;
    if (type === MESSAGE.commandComplete && this.#ahead > 0) this.#ahead -= 1;
    else if (type === MESSAGE.rowDescription)
      this.#decide(sameFields(readFields(buffer.subarray(start, end)), this.#expected));
    else if (type === MESSAGE.noData && this.#ahead === 0) this.#decide(this.#expected.length === 0);
    else return false;
    return true;
  }

  closed(failure: DriverFailure): void {
    this.#over = true;
    this.#told.reject(failure);
  }

  #decide(asExpected: boolean): void {
    this.#over = true;
    if (asExpected) return this.#told.resolve(true);
    const tell = (): void => this.#told.resolve(false);
    const rest = this.#endings === 0 ? [SYNC] : [];
    exchangeWithoutRows(this.#wire, rest, Math.max(this.#endings, 1)).then(tell, tell);
  }
}
