import type { DuckDBInstance } from '@duckdb/node-api';
import { setTimeout as delay } from 'node:timers/promises';
import { engineFailure } from './engine-failure.js';
import { NativeCallGate } from '#libs/datasources';
import type { OverrunWatch } from './overrun-watch.js';
import { StagingConnection } from './staging-connection.js';

/** Schema of result tables that are read out (contract 02 §6.3); authors cannot name it, `__…__` and quotes aside. */
export const INTERNAL_SCHEMA = '__dp';

export interface StagingEngineOptions {
  instance: DuckDBInstance;
  gate: NativeCallGate;
  watch?: OverrunWatch | undefined;
  /** Memory limit of this engine and what it may spill, in MB; for messages. */
  limitMb: number;
  spillLimitMb: number;
  maxConnections: number;
  closeGraceMs: number;
  /** Gives back memory and spill folder; never rejects. */
  afterClose: () => Promise<void>;
  onCleanupFailure: (error: unknown) => void;
}

/** The in-memory engine of one execution. Owned by its run, which closes it in `finally`. */
export class StagingEngine {
  readonly limitMb: number;
  readonly spillLimitMb: number;
  #tables = 0;
  readonly #connections = new Set<StagingConnection>();
  /** One per connection of this engine: a node waits for a free one as it waits for a native thread. */
  readonly #slots: NativeCallGate;
  #closing: Promise<void> | undefined;

  constructor(private readonly options: StagingEngineOptions) {
    this.limitMb = options.limitMb;
    this.spillLimitMb = options.spillLimitMb;
    this.#slots = new NativeCallGate(options.maxConnections);
  }

  /** Tables that nodes have staged here. */
  get tables(): number {
    return this.#tables;
  }

  /** A node's table is complete. */
  tableStaged(): void {
    this.#tables++;
  }

  /** Opens a connection for `work` and closes it after, whatever happens. Nothing leaks from node to node. */
  async withConnection<T>(signal: AbortSignal, work: (connection: StagingConnection) => Promise<T>): Promise<T> {
    return this.#slots.run(async () => {
      const connection = await this.#connect(signal);
      try {
        return await work(connection);
      } finally {
        await connection.close();
      }
    }, signal);
  }

  /**
   * Interrupts what runs, waits for it at most the grace, closes connections and engine and gives memory and spill
   * folder back. Never throws. A call that does not return in time is closed by its own return.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #connect(signal: AbortSignal): Promise<StagingConnection> {
    signal.throwIfAborted();
    const { instance, gate, watch } = this.options;
    try {
      const native = await gate.run(() => instance.connect(), signal);
      const connection = new StagingConnection(native, gate, watch, () => this.#connections.delete(connection));
      this.#connections.add(connection);
      return connection;
    } catch (error) {
      signal.throwIfAborted();
      throw engineFailure(error);
    }
  }

  async #close(): Promise<void> {
    const open = [...this.#connections];
    for (const connection of open) connection.interrupt();
    const allClosed = Promise.all(open.map((connection) => connection.close()));
    const grace = new AbortController();
    const inTime = await Promise.race([
      allClosed.then(() => true),
      delay(this.options.closeGraceMs, false, { signal: grace.signal }).catch(() => false),
    ]);
    grace.abort();
    if (inTime) {
      await this.#free();
    } else {
      this.options.onCleanupFailure(new Error('A native call did not return; its engine is closed when it does.'));
      void allClosed.then(() => this.#free());
    }
  }

  async #free(): Promise<void> {
    try {
      this.options.instance.closeSync();
    } catch (error) {
      this.options.onCleanupFailure(error);
    }
    await this.options.afterClose();
  }
}
