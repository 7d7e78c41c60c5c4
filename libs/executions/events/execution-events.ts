import { Injectable } from '@nestjs/common';
import { authorise } from '#libs/identity';
import { newId, PenstockError, RawJson, toWireStamp, type Principal } from '#libs/kernel';
import { isConnectionFailure, isContention } from '#libs/persistence';
import { ExecutionInstance } from '../instance/execution-instance.js';
import type { UserLease } from '../instance/user-leases.js';
import { EventTable } from '../records/event-table.js';
import type { ExecutionRow } from '../reading/execution-view.js';
import { VisibleExecutions } from '../reading/visible-executions.js';
import { DataReadyRows } from './data-ready-rows.js';
import type { EventRecord, EventType } from './event-record.js';
import { payloadText } from './payload-text.js';
import { LocalSource, SingleSource, StoredSource, type EventSource } from './event-source.js';
import { frameOf, SourceWatch, type EventFrame, type EventWatch, type WatchOptions } from './event-watch.js';

export interface EventPage {
  execution_id: string;
  events: { event_id: number; event: EventType; timestamp: string; data: RawJson }[];
  next_after: number;
  has_more: boolean;
}

type OwnRun = Pick<ExecutionRow, 'execution_id' | 'triggered_by'> & { status: 'RUNNING' };

/** Watching executions, from any instance (contract 02 §10.3, 03 §5.4). */
@Injectable()
export class ExecutionEvents {
  readonly #made = new WeakMap<EventRecord, EventFrame>();

  constructor(
    private readonly visible: VisibleExecutions,
    private readonly table: EventTable,
    private readonly rows: DataReadyRows,
    private readonly instance: ExecutionInstance,
  ) {}

  /**
   * Opens a watch behind event `after` (0 = all). 404 `result.execution_not_found`; 410 `result.expired` with reason
   * `event_record_expired` when the events of an ended run are gone. `attach`: an idempotent retry, which then gets one
   * terminal event made from the row instead. Nothing is read before the iteration asks.
   */
  async watch(
    principal: Principal,
    executionId: string,
    options: { after: number; signal: AbortSignal; attach?: boolean },
  ): Promise<EventWatch> {
    const row =
      this.#ownRunningHere(principal, executionId) ??
      (await this.visible.get(principal, 'execution.read', executionId));
    const { after, signal } = options;
    const local = this.instance.hub.local(row.execution_id);
    if (!local && row.status !== 'RUNNING') return this.#ended(row, after, signal, options.attach ?? false);
    const source = local
      ? new LocalSource(local, this.instance.reader, () => undefined)
      : this.instance.remoteLogs.open(row.execution_id, after);
    const own = row.triggered_by === principal.userId;
    const here = local !== undefined || this.instance.runs.get(row.execution_id) !== undefined;
    const detach = own ? this.instance.attachments.watching(row.execution_id, here) : () => undefined;
    const leave = () => {
      detach();
      source.close();
    };
    // A door that gives up before it reads must neither keep the run alive nor leave a reader behind.
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    const nothingLeft = local?.sealed === true && local.remark === undefined && after >= local.lastId;
    return this.#watch(row.execution_id, source, { after, signal, leave, nothingLeft });
  }

  /** Events `after …` as a page; works while the run goes on too. */
  async page(principal: Principal, executionId: string, asked: { after: number; limit: number }): Promise<EventPage> {
    const row = await this.visible.get(principal, 'execution.read', executionId);
    return this.#pageOf(row.execution_id, await this.#read(row.execution_id, asked), asked);
  }

  /** As `page`, of many executions: one statement for the rows and one for what has ended; the others are left out. */
  async pages(
    principal: Principal,
    executionIds: readonly string[],
    asked: { after: number; limit: number },
  ): Promise<Map<string, EventPage>> {
    const rows = await this.visible.among(principal, 'execution.read', executionIds);
    const ended = rows.filter(({ status }) => status !== 'RUNNING').map((row) => row.execution_id);
    const told = await this.table.readMany(ended, asked.after, asked.limit + 1);
    const pages = await Promise.all(
      rows.map(async ({ execution_id: id, status }) => {
        const found = status === 'RUNNING' ? await this.#read(id, asked) : (told.get(id) ?? []);
        return this.#pageOf(id, found, asked);
      }),
    );
    return new Map(pages.map((page) => [page.execution_id, page]));
  }

  async #read(id: string, { after, limit }: { after: number; limit: number }): Promise<readonly EventRecord[]> {
    const local = this.instance.hub.local(id);
    const source = local
      ? new LocalSource(local, this.instance.reader, () => undefined)
      : new StoredSource(id, this.instance.reader);
    return await source.read(after, limit + 1);
  }

  async #pageOf(
    id: string,
    found: readonly EventRecord[],
    { after, limit }: { after: number; limit: number },
  ): Promise<EventPage> {
    const events = found.slice(0, limit);
    return {
      execution_id: id,
      events: await Promise.all(
        events.map(async (event) => ({
          event_id: event.eventId,
          event: event.type,
          timestamp: event.timestamp,
          data: new RawJson(await this.rows.shown(id, event)),
        })),
      ),
      next_after: events.at(-1)?.eventId ?? after,
      has_more: found.length > limit,
    };
  }

  /** One of the person's streams; 429 `rate_limit.exceeded` when there are no more. The door gives it back at the close. */
  stream(principal: Principal): Promise<UserLease> {
    return this.instance.leases.stream(principal.userId, newId());
  }

  /** Whether the right to watch still stands: asked at most once per heartbeat of a stream. */
  async mayStillWatch(principal: Principal, executionId: string): Promise<boolean> {
    try {
      return await this.visible.stillVisible(principal, 'execution.read', executionId);
    } catch (error) {
      // While the database is away streams live on, nothing new is shown to them anyway. Nothing else keeps a right.
      return isConnectionFailure(error) || isContention(error);
    }
  }

  /**
   * A person's own run that goes on here, as right after its launch: what the row would say is known. Endpoint keys are
   * judged by the row, which knows whose runs are theirs.
   */
  #ownRunningHere(principal: Principal, executionId: string): OwnRun | undefined {
    const run = this.instance.runs.get(executionId);
    if (!run || principal.keyKind === 'endpoint' || run.userId !== principal.userId) return undefined;
    const { id } = authorise(principal, 'execution.read');
    return run.workspaceId === id
      ? { execution_id: executionId, triggered_by: run.userId, status: 'RUNNING' }
      : undefined;
  }

  async #ended(row: ExecutionRow, after: number, signal: AbortSignal, attach: boolean): Promise<EventWatch> {
    const id = row.execution_id;
    const source = new StoredSource(id, this.instance.reader);
    const [next] = await source.read(after, 1);
    if (next) return this.#watch(id, source, { after, signal });
    const kept = after > 0 && (await this.table.read(id, 0, 1)).length > 0;
    if (!kept && attach) return this.#watch(id, new SingleSource(terminalOf(row)), { after: 0, signal });
    if (!kept) throw new PenstockError('result.expired', { details: { reason: 'event_record_expired' } });
    return this.#watch(id, source, { after, signal, nothingLeft: true });
  }

  #watch(id: string, source: EventSource, given: Omit<WatchOptions, 'framing'>): EventWatch {
    return new SourceWatch(id, source, { ...given, framing: (event) => this.#frame(id, event) });
  }

  /** Made once for all who watch here; `data_ready` waits for the rows it shows. */
  #frame(executionId: string, event: EventRecord): EventFrame | Promise<EventFrame> {
    const made = this.#made.get(event);
    if (made) return made;
    if (event.type === 'data_ready') return this.rows.shown(executionId, event).then((data) => frameOf(event, data));
    const frame = frameOf(event, event.data);
    this.#made.set(event, frame);
    return frame;
  }
}

/** What an ended row tells when both logs are gone. Its number is the first: nothing else is left to number. */
function terminalOf(row: ExecutionRow): EventRecord {
  const stamp = toWireStamp(row.completed_at ?? row.started_at);
  const common = {
    execution_id: row.execution_id,
    correlation_id: row.correlation_id,
    pipeline_id: row.pipeline_id,
    status: row.status,
    node_stats: new RawJson(row.node_stats_json ?? '[]'),
  };
  const error = new RawJson(row.error_json ?? 'null');
  const event = (type: EventType, fields: Record<string, unknown>): EventRecord => ({
    eventId: 1,
    type,
    timestamp: stamp,
    data: payloadText({ ...common, ...fields }),
  });
  if (row.status === 'SUCCESS') return event('pipeline_completed', { completed_at: stamp });
  if (row.status === 'FAILED')
    return event('pipeline_failed', { failed_at: stamp, failed_node_id: row.failed_node_id, error });
  return event('execution_aborted', {
    aborted_at: stamp,
    reason: row.error_json === null ? 'cancelled' : 'instance_lost',
  });
}
