import type { EventRecord } from './event-record.js';
import { ExecutionLog } from './execution-log.js';
import type { StoreLogWriter } from './store-log-writer.js';
import type { TableLogWriter } from './table-log-writer.js';

/** Ended logs stay for watchers that are just catching up; the shared logs have them too. */
const KEEP_SEALED_MS = 30_000;
/** Events waiting for the table (contract 02 §10.2). */
const MOST_WAITING = 10_000;

/**
 * The event logs of the executions this instance owns (contract 02 §10). Emitters never wait for readers: both shared
 * logs are written behind, and watchers read when they can.
 */
export class EventHub {
  readonly #logs = new Map<string, ExecutionLog>();
  readonly #expiries = new Set<NodeJS.Timeout>();

  constructor(
    private readonly table: TableLogWriter,
    private readonly store: StoreLogWriter,
  ) {}

  open(executionId: string): ExecutionLog {
    const log = new ExecutionLog(executionId);
    this.#logs.set(executionId, log);
    return log;
  }

  /** The log of an execution that runs, or has just ended, here. */
  local(executionId: string): ExecutionLog | undefined {
    return this.#logs.get(executionId);
  }

  appended(log: ExecutionLog): void {
    this.table.dirty(log);
    this.store.dirty(log);
  }

  /** The table has not taken events for so long that what can be left out should be. */
  get isCrowded(): boolean {
    return this.table.waiting >= MOST_WAITING;
  }

  /** The terminal events are committed: show them everywhere. */
  seal(log: ExecutionLog, terminal: readonly EventRecord[]): void {
    log.seal(terminal);
    this.store.dirty(log);
    this.table.forget(log);
    this.#expire(log);
  }

  /** Ended without an outcome that could be written; `remark` is said to who watches now. Later ones see the row. */
  abandon(log: ExecutionLog, remark: string): void {
    this.#forget(log);
    log.abandon(remark);
  }

  /** Ended by somebody else. What this instance emitted in the meantime never happened. */
  disown(log: ExecutionLog): void {
    this.#forget(log);
    log.disown();
  }

  /** Waits until both logs have what they can have; for the drain. */
  async flush(): Promise<void> {
    await Promise.all([this.table.flush(), this.store.flush()]);
  }

  stop(): void {
    for (const timer of this.#expiries) clearTimeout(timer);
    this.#expiries.clear();
    this.#logs.clear();
  }

  #forget(log: ExecutionLog): void {
    this.table.forget(log);
    this.store.forget(log);
    this.#logs.delete(log.executionId);
  }

  #expire(log: ExecutionLog): void {
    const timer = setTimeout(() => {
      this.#expiries.delete(timer);
      this.#logs.delete(log.executionId);
    }, KEEP_SEALED_MS);
    timer.unref();
    this.#expiries.add(timer);
  }
}
