import { DriverFailure } from '../driver-failure.js';
import { failureOf, MESSAGE, query, SYNC } from './messages.js';
import type { MessageConsumer, PostgresWire } from './wire.js';

/** The Sync of the read and COMMIT: by the answers to these the read is judged. */
const ENDING = 2;

/** The messages that end a read, and how many ReadyForQuery answer them. */
export interface ReadEnding {
  readonly bytes: Buffer;
  readonly readies: number;
}

/**
 * COMMIT, and behind it what puts the session back to its first state. The Sync comes first: a server skips what stands
 * between an error and the Sync, and where it skipped COMMIT, the session would stay in the failed transaction and refuse
 * each text of the scrub. So COMMIT rolls a failed read back.
 */
export function readEnding(scrub: readonly string[]): ReadEnding {
  const bytes = Buffer.concat([SYNC, query('COMMIT'), ...scrub.map(query)]);
  return { bytes, readies: ENDING + scrub.length };
}

/**
 * Ends a read, in one write or by what was sent with it. Resolves with whether the session is clean; rejects when the
 * read did not end well. That the session could not be put back is no fault of the read.
 */
export function endRead(wire: PostgresWire, { bytes, readies }: ReadEnding, sent = false): Promise<boolean> {
  return new Promise((resolve, reject) => {
    wire.exchange(sent ? [] : [bytes], new ReadEnd(wire, readies, resolve, reject));
  });
}

/** The server answers COMMIT of a failed transaction with ROLLBACK and no error. */
export function rolledBack(): DriverFailure {
  return new DriverFailure('other', 'The server rolled the read back.', { driverCode: '25P02' });
}

class ReadEnd implements MessageConsumer {
  #part = 0;
  #tag = '';
  #failure: DriverFailure | null = null;
  #clean = true;

  constructor(
    private readonly wire: PostgresWire,
    private readonly parts: number,
    private readonly resolve: (clean: boolean) => void,
    private readonly reject: (failure: DriverFailure) => void,
  ) {}

  message(type: number, buffer: Buffer, start: number, end: number): void {
    const ending = this.#part < ENDING;
    if (type === MESSAGE.commandComplete && ending) this.#tag = buffer.toString('utf8', start, end - 1);
    else if (type === MESSAGE.error && ending) this.#failure ??= failureOf(buffer.subarray(start, end));
    else if (type === MESSAGE.error) this.#clean = false;
    else if (type === MESSAGE.readyForQuery && ++this.#part === this.parts) this.#over();
  }

  closed(failure: DriverFailure): void {
    this.reject(failure);
  }

  #over(): void {
    this.wire.release(this);
    if (this.#failure) this.reject(this.#failure);
    else if (this.#tag !== 'COMMIT') this.reject(rolledBack());
    else this.resolve(this.#clean);
  }
}
