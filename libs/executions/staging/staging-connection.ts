import type { DuckDBAppender, DuckDBConnection, DuckDBMaterializedResult } from '@duckdb/node-api';
import { engineFailure, overrun } from './engine-failure.js';
import { interruptOnAbort } from './interrupt.js';
import type { NativeCallGate } from '#libs/datasources';
import type { OverrunWatch } from './overrun-watch.js';

/**
 * One connection to a staging engine, for one operation of one node (contract 02 §6.1). Every call goes through the
 * process-wide gate and stops in the engine when its signal aborts: it then rejects with the signal's reason.
 */
export class StagingConnection {
  #pending: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(
    private readonly connection: DuckDBConnection,
    private readonly gate: NativeCallGate,
    private readonly watch: OverrunWatch | undefined,
    private readonly onClose: () => void,
  ) {}

  /** Runs one native call. Not for use by two callers at a time: a connection is one session. */
  call<T>(work: (connection: DuckDBConnection) => Promise<T>, signal: AbortSignal): Promise<T> {
    const outcome = this.gate.run(() => this.#native(work, signal), signal);
    this.#pending = outcome.catch(() => undefined);
    return outcome;
  }

  run(sql: string, signal: AbortSignal): Promise<DuckDBMaterializedResult> {
    return this.call((connection) => connection.run(sql), signal);
  }

  appender(schema: string, table: string, signal: AbortSignal): Promise<DuckDBAppender> {
    return this.call((connection) => connection.createAppender(table, schema), signal);
  }

  interrupt(): void {
    if (!this.#closed) this.connection.interrupt();
  }

  /** Closes once no native call is inside: disconnecting under a running call would free what it uses. */
  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#pending;
    if (this.#closed) return;
    this.#closed = true;
    this.connection.disconnectSync();
    this.onClose();
  }

  async #native<T>(work: (connection: DuckDBConnection) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const stop = interruptOnAbort(() => this.interrupt(), signal);
    const watched = this.watch?.enter(() => this.interrupt());
    try {
      return await work(this.connection);
    } catch (error) {
      signal.throwIfAborted();
      throw watched?.overrunMb === undefined ? engineFailure(error) : overrun(watched.overrunMb, error);
    } finally {
      watched?.leave();
      stop();
    }
  }
}
