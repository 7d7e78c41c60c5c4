import type { ColumnBatch } from '#libs/typesystem';

import { DriverFailure } from './driver-failure.js';
import type { TableWriter } from './driver.js';

/** What one engine does at each step of a write-back. */
export interface WriteSteps {
  /** Opens the transaction and empties the table where asked; a missing table or column is told here. */
  begin(): Promise<unknown>;
  insert(batch: ColumnBatch): Promise<unknown>;
  commit(): Promise<unknown>;
  rollback(): Promise<unknown>;
  /** Whether a COMMIT that failed like this may have been done all the same; absent = when the connection went. */
  mayHaveCommitted?(failure: DriverFailure): boolean;
}

/** The connection a write-back runs on. */
export interface WritingConnection {
  readonly usable: boolean;
  stoppable<T>(work: Promise<T>, signal: AbortSignal): Promise<T>;
  /** As {@link stoppable}, but what the engine answered stands however late the abort came. */
  completion<T>(work: Promise<T>, signal: AbortSignal): Promise<T>;
}

/** A write-back as one transaction that its caller's signal stops (02 §5.4). */
export class TransactionWriter implements TableWriter {
  readonly #connection: WritingConnection;
  readonly #steps: WriteSteps;
  readonly #signal: AbortSignal;

  private constructor(connection: WritingConnection, steps: WriteSteps, signal: AbortSignal) {
    this.#connection = connection;
    this.#steps = steps;
    this.#signal = signal;
  }

  static async begin(
    connection: WritingConnection,
    steps: WriteSteps,
    signal: AbortSignal,
  ): Promise<TransactionWriter> {
    await connection.stoppable(steps.begin(), signal);
    return new TransactionWriter(connection, steps, signal);
  }

  async write(batch: ColumnBatch): Promise<void> {
    await this.#connection.stoppable(this.#steps.insert(batch), this.#signal);
  }

  async commit(): Promise<void> {
    const steps = this.#steps;
    const isUnknown = (failure: DriverFailure): boolean => steps.mayHaveCommitted?.(failure) ?? connectionWent(failure);
    await this.#connection.completion(committed(steps.commit(), isUnknown), this.#signal);
  }

  async rollback(): Promise<void> {
    if (this.#connection.usable) await this.#steps.rollback();
  }
}

const connectionWent = ({ kind }: DriverFailure): boolean => kind === 'connection';

/**
 * The outcome of a COMMIT. Where it went lost while it was under way neither "written" nor "not written" may be claimed
 * (02 §5.4).
 */
export async function committed<T>(
  commit: Promise<T>,
  isUnknown: (failure: DriverFailure) => boolean = connectionWent,
): Promise<T> {
  try {
    return await commit;
  } catch (error) {
    if (!(error instanceof DriverFailure) || !isUnknown(error)) throw error;
    const { kind, driverCode } = error;
    throw new DriverFailure(kind, error.message, {
      ...(driverCode === undefined ? {} : { driverCode }),
      commitUnknown: true,
      cause: error,
    });
  }
}
