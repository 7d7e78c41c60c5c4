import type { Logger } from '#libs/kernel';
import { CHANNELS, type TransientStore } from '#libs/transient';
import type { ExecutionStatus, ExecutionStatusReader } from '../records/execution-status.js';
import type { EventRecord } from './event-record.js';
import type { EventSource } from './event-source.js';
import type { LogReader } from './log-reader.js';
import { WakeUp } from './wake-up.js';

const POLL_MS = 1000;
const ROW_CHECK_EVERY = 15;
const READ_LIMIT = 500;
const TAIL_BYTES = 1024 * 1024;

/**
 * Executions of other instances that are watched here: one reader each, however many watch, woken by the nudge and a
 * one-second poll (contract 02 §10.3). Their rows are looked at every 15 s, so that a swept or purged run ends its
 * streams.
 */
export class RemoteLogs {
  readonly #logs = new Map<string, RemoteLog>();
  #timer: NodeJS.Timeout | undefined;
  #unsubscribe: (() => Promise<void>) | undefined;
  #ticks = 0;

  constructor(
    private readonly store: TransientStore,
    private readonly reader: LogReader,
    private readonly rows: ExecutionStatusReader,
    private readonly logger: Logger,
    private readonly pollMs = POLL_MS,
  ) {}

  get watched(): string[] {
    return [...this.#logs.keys()];
  }

  async start(): Promise<void> {
    this.#unsubscribe = await this.store.subscribe(
      CHANNELS.events,
      (executionId) => this.#logs.get(executionId)?.poke(),
      () => this.#pokeAll(),
    );
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  /** A source for one watcher that resumes after `after`; closing the last one of an execution ends its reader. */
  open(executionId: string, after: number): EventSource {
    let log = this.#logs.get(executionId);
    if (!log) {
      log = new RemoteLog(executionId, after, this.reader, this.logger);
      this.#logs.set(executionId, log);
      this.#timer ??= setInterval(() => this.#tick(), this.pollMs).unref();
      log.poke();
    }
    return log.source(() => this.#closed(log));
  }

  #closed(log: RemoteLog): void {
    if (log.watchers > 0) return;
    this.#logs.delete(log.executionId);
    if (this.#logs.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    this.#pokeAll();
    if (++this.#ticks % ROW_CHECK_EVERY === 0) void this.#checkRows();
  }

  #pokeAll(): void {
    for (const log of this.#logs.values()) log.poke();
  }

  async #checkRows(): Promise<void> {
    try {
      const statuses = await this.rows.statuses(this.watched);
      for (const log of this.#logs.values()) log.rowIs(statuses.get(log.executionId));
    } catch (error) {
      this.logger.warn('Rows of watched executions could not be looked at.', { error });
    }
  }
}

/** The shared reader of one execution: a contiguous tail of its events, from where the first watcher resumed. */
class RemoteLog {
  readonly changed = new WakeUp();
  watchers = 0;
  ended = false;
  readonly #tail: EventRecord[] = [];
  #bytes = 0;
  /** Id right before the tail. */
  #base: number;
  #reading = false;
  #again = false;

  constructor(
    readonly executionId: string,
    after: number,
    private readonly reader: LogReader,
    private readonly logger: Logger,
  ) {
    this.#base = after;
  }

  source(onClose: () => void): EventSource {
    this.watchers++;
    let open = true;
    const isEnded = () => this.ended;
    return {
      changed: this.changed,
      get ended() {
        return isEnded();
      },
      remark: undefined,
      read: (after, limit) => this.#read(after, limit),
      terminal: () => this.reader.terminal(this.executionId),
      close: () => {
        if (!open) return;
        open = false;
        this.watchers--;
        onClose();
      },
    };
  }

  /** There may be something new. */
  poke(): void {
    this.#again = true;
    if (!this.#reading) void this.#poll();
  }

  /** Undefined: the row is gone. */
  rowIs(status: ExecutionStatus | undefined): void {
    if (status === 'RUNNING' || this.ended) return;
    this.ended = true;
    this.changed.signal();
  }

  #read(after: number, limit: number): EventRecord[] | Promise<EventRecord[]> {
    const head = this.#base + this.#tail.length;
    if (after >= this.#base && after < head) return this.#tail.slice(after - this.#base, after - this.#base + limit);
    // At the head nothing is new, unless the row has ended: the shared logs then hold the rest.
    if (after >= head && !this.ended) return [];
    return this.reader.range(this.executionId, after, limit);
  }

  async #poll(): Promise<void> {
    this.#reading = true;
    while (this.#again) {
      this.#again = false;
      try {
        const head = this.#base + this.#tail.length;
        const events =
          (await this.reader.recent(this.executionId, head, READ_LIMIT)) ??
          (await this.reader.range(this.executionId, head, READ_LIMIT));
        this.#keep(events);
        if (events.length >= READ_LIMIT) this.#again = true;
      } catch (error) {
        this.logger.warn('Events of another instance could not be read.', { execution_id: this.executionId, error });
      }
    }
    this.#reading = false;
  }

  #keep(events: readonly EventRecord[]): void {
    if (events.length === 0) return;
    for (const event of events) {
      this.#tail.push(event);
      this.#bytes += event.data.length;
    }
    while (this.#bytes > TAIL_BYTES && this.#tail.length > 1) {
      this.#bytes -= this.#tail.shift()!.data.length;
      this.#base++;
    }
    this.changed.signal();
  }
}
