import { describe, expect, it } from '@jest/globals';
import { SilentLogger } from '#libs/kernel';
import { TransientUnavailable, type EventAppend, type LoggedEvent, type TransientStore } from '#libs/transient';
import fc from 'fast-check';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventTable } from '../records/event-table.js';
import type { ExecutionStatusReader } from '../records/execution-status.js';
import type { EventRecord } from './event-record.js';
import { EventFollower } from './event-follower.js';
import { EventHub } from './event-hub.js';
import { LocalSource, StoredSource, type EventSource } from './event-source.js';
import { ExecutionLog } from './execution-log.js';
import { LogReader } from './log-reader.js';
import { RemoteLogs } from './remote-logs.js';
import { StoreLogWriter } from './store-log-writer.js';
import { TableLogWriter } from './table-log-writer.js';
import { watchEvents } from './watch-events.js';

const ID = 'e';

describe('the log of a run with more events than memory may hold', () => {
  it('goes on in the transient log behind what was let go: readers elsewhere find the gap in the table', () => {
    const log = new ExecutionLog(ID);
    const large = 'x'.repeat(1024 * 1024);
    for (let n = 0; n < 6; n++) log.append('node_started', '', large);
    log.confirmTable(5);
    log.append('node_completed', '', '{}');
    expect(log.unsavedInStore().map(({ eventId }) => eventId)).toEqual([3, 4, 5, 6, 7]);
  });
});

describe('a table that takes nothing for long', () => {
  it('is said to be crowded from ten thousand waiting events on, and not any more once they are in', async () => {
    let away = true;
    const table = { insert: () => (away ? Promise.reject(new Error('away')) : Promise.resolve()) };
    const writer = new TableLogWriter(table as unknown as EventTable, () => undefined);
    const hub = new EventHub(writer, { dirty: () => undefined } as unknown as StoreLogWriter);
    const logs = ['a', 'b'].map((id) => hub.open(id));
    const tell = (log: ExecutionLog): void => {
      log.append('node_started', '2026-01-01T00:00:00.000Z', '{}');
      hub.appended(log);
    };
    for (let n = 0; n < 9999; n++) tell(logs[n % 2]!);
    expect(hub.isCrowded).toBe(false);
    tell(logs[0]!);
    expect(hub.isCrowded).toBe(true);
    away = false;
    // Batch by batch: each flush waits for the one under way.
    while (writer.waiting > 0) await writer.flush();
    expect(hub.isCrowded).toBe(false);
    writer.stop();
  });
});

/** Both shared logs, with everything that can go wrong between them and a reader. */
class Logs {
  readonly store = new Map<number, LoggedEvent>();
  readonly table = new Map<number, EventRecord>();
  down = false;
  nudges = true;
  ended = false;
  #onNudge: (id: string) => void = () => undefined;

  readonly transient = {
    appendEvents: (logs: readonly EventAppend[]) =>
      this.#answer(() => {
        for (const { executionId, events } of logs) {
          events.forEach((event) => this.store.set(event.eventId, event));
          if (this.nudges) this.#onNudge(executionId);
        }
      }),
    readEvents: (_id: string, after: number, limit: number) =>
      this.#answer(() =>
        [...this.store.values()]
          .filter(({ eventId }) => eventId > after)
          .sort((a, b) => a.eventId - b.eventId)
          .slice(0, limit),
      ),
    publish: (_channel: string, id: string) => this.#answer(() => this.nudges && this.#onNudge(id)),
    subscribe: (_channel: string, onMessage: (id: string) => void) => {
      this.#onNudge = onMessage;
      return Promise.resolve(() => Promise.resolve());
    },
  } as unknown as TransientStore;

  readonly eventTable = {
    insert: (batch: readonly (readonly [string, EventRecord])[]) => {
      for (const [, event] of batch) this.table.set(event.eventId, event);
      return Promise.resolve();
    },
    read: (_id: string, after: number, limit: number) =>
      Promise.resolve(
        [...this.table.values()]
          .filter(({ eventId }) => eventId > after)
          .sort((a, b) => a.eventId - b.eventId)
          .slice(0, limit),
      ),
    last: () => Promise.resolve([...this.table.values()].sort((a, b) => b.eventId - a.eventId)[0]),
  } as unknown as EventTable;

  readonly rows = {
    statuses: (ids: readonly string[]) =>
      Promise.resolve(new Map(ids.map((id) => [id, this.ended ? 'SUCCESS' : 'RUNNING']))),
  } as unknown as ExecutionStatusReader;

  async #answer<T>(work: () => T): Promise<T> {
    await Promise.resolve();
    if (this.down) throw new TransientUnavailable();
    return work();
  }
}

/** One client that reconnects where it left off until it has seen the end. */
async function client(
  open: (after: number) => EventSource,
  after: number,
  dropAfter: readonly number[],
  ended: () => boolean,
) {
  const seen: number[] = [];
  const drops = [...dropAfter];
  let last = after;
  for (;;) {
    const connection = new AbortController();
    const source = open(last);
    let left = drops.shift() ?? Infinity;
    let terminal = false;
    for await (const event of watchEvents(source, last, connection.signal)) {
      seen.push(event.eventId);
      last = event.eventId;
      terminal = event.type === 'pipeline_failed';
      if (--left <= 0) break;
    }
    source.close();
    if (terminal || (left > 0 && ended())) return seen;
  }
}

/** The same client, pushed to: it takes its time for some events, and some frames take theirs. */
async function pushedClient(
  open: (after: number) => EventSource,
  after: number,
  dropAfter: readonly number[],
  ended: () => boolean,
) {
  const seen: number[] = [];
  const drops = [...dropAfter];
  let last = after;
  for (;;) {
    const source = open(last);
    let left = drops.shift() ?? Infinity;
    let terminal = false;
    await new Promise<void>((resolve, reject) => {
      const framing = (event: EventRecord) => (event.eventId % 3 === 0 ? Promise.resolve(event) : event);
      const follower = new EventFollower(source, last, framing, {
        send: (events) => {
          for (const event of events) {
            seen.push(event.eventId);
            last = event.eventId;
            terminal = event.type === 'pipeline_failed';
            if (--left > 0) continue;
            follower.stop();
            resolve();
            break;
          }
          return last % 2 === 0 ? delay(1) : undefined;
        },
        ended: (error) => (error === undefined ? resolve() : reject(error as Error)),
      });
      follower.look();
    });
    source.close();
    if (terminal || (left > 0 && ended())) return seen;
  }
}

const emit = (hub: EventHub, log: ExecutionLog) => {
  log.append('node_started', '2026-01-01T00:00:00.000Z', '{}');
  hub.appended(log);
};

type Step = 'append' | 'down' | 'up' | 'wipe' | 'nudges' | 'no nudges' | 'turn';
const STEPS: readonly Step[] = ['append', 'append', 'append', 'down', 'up', 'wipe', 'nudges', 'no nudges', 'turn'];

describe('event streams', () => {
  it('give every watcher 1..n once each, through any interleaving of appends, losses and reconnects', async () => {
    const step = fc.constantFrom(...STEPS);
    const watcher = fc.record({
      at: fc.nat(20),
      local: fc.boolean(),
      form: fc.constantFrom(client, pushedClient),
      drops: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 3, maxLength: 30 }),
        fc.array(watcher, { minLength: 1, maxLength: 4 }),
        async (steps, watchers) => {
          const logs = new Logs();
          const ignore = () => undefined;
          const table = new TableLogWriter(logs.eventTable, ignore);
          const hub = new EventHub(table, new StoreLogWriter(logs.transient, 60, ignore));
          const reader = new LogReader(logs.transient, logs.eventTable);
          const remote = new RemoteLogs(logs.transient, reader, logs.rows, new SilentLogger(), 4);
          await remote.start();
          const log = hub.open(ID);
          const clients: Promise<number[]>[] = [];
          const openFor =
            (local: boolean) =>
            (after: number): EventSource => {
              if (local) return new LocalSource(log, reader, ignore);
              return logs.ended ? new StoredSource(ID, reader) : remote.open(ID, after);
            };
          for (const [index, each] of steps.entries()) {
            for (const { local, form, drops } of watchers.filter((w) => w.at === index)) {
              clients.push(form(openFor(local), 0, drops, () => logs.ended));
            }
            if (each === 'append') emit(hub, log);
            if (each === 'down') logs.down = true;
            if (each === 'up') logs.down = false;
            if (each === 'wipe') logs.store.clear();
            if (each === 'nudges') logs.nudges = true;
            if (each === 'no nudges') logs.nudges = false;
            if (each === 'turn') await delay(1);
          }
          for (const { local, form, drops } of watchers.filter((w) => w.at >= steps.length)) {
            clients.push(form(openFor(local), 0, drops, () => logs.ended));
          }
          // The terminal transaction: all that is unsaved goes into the table, then everybody is shown.
          const terminal = log.prepare([
            { type: 'pipeline_failed', timestamp: '2026-01-01T00:00:01.000Z', data: '{}' },
          ]);
          await logs.eventTable.insert([...log.unsavedInTable(), ...terminal].map((event) => [ID, event] as const));
          hub.seal(log, terminal);
          logs.ended = true;
          const all = Array.from({ length: terminal[0]!.eventId }, (_, at) => at + 1);
          for (const seen of await Promise.all(clients)) expect(seen).toEqual(all);
          expect(remote.watched).toEqual([]);
          await remote.stop();
          table.stop();
          hub.stop();
        },
      ),
      { numRuns: 120 },
    );
  }, 60_000);

  it('a slow watcher holds no events: it reads on demand and misses none', async () => {
    const logs = new Logs();
    const hub = new EventHub(
      new TableLogWriter(logs.eventTable, () => undefined),
      new StoreLogWriter(logs.transient, 60, () => undefined),
    );
    const log = hub.open(ID);
    const source = new LocalSource(log, new LogReader(logs.transient, logs.eventTable), () => undefined);
    const events = watchEvents(source, 0, new AbortController().signal);
    emit(hub, log);
    expect((await events.next()).value).toMatchObject({ eventId: 1 });
    for (let n = 0; n < 500; n++) emit(hub, log);
    for (let id = 2; id <= 501; id++) expect((await events.next()).value).toMatchObject({ eventId: id });
    const waiting = events.next();
    emit(hub, log);
    expect((await waiting).value).toMatchObject({ eventId: 502 });
    hub.stop();
  });

  it('a slow taker is pushed nothing until it wants more, and then all it missed at once', async () => {
    const log = new ExecutionLog(ID);
    const logs = new Logs();
    const source = new LocalSource(log, new LogReader(logs.transient, logs.eventTable), () => undefined);
    const pushes: number[][] = [];
    let more: () => void = () => undefined;
    const follower = new EventFollower(source, 0, (event) => event.eventId, {
      send: (ids) => {
        pushes.push([...ids]);
        return new Promise<void>((resolve) => (more = resolve));
      },
      ended: () => undefined,
    });
    const add = () => log.append('node_progress', '', '{}');
    add();
    follower.look();
    for (let n = 0; n < 3; n++) {
      add();
      await delay(1);
    }
    expect(pushes).toEqual([[1]]);
    more();
    await delay(1);
    expect(pushes).toEqual([[1], [2, 3, 4]]);
    follower.stop();
    more();
    add();
    await delay(1);
    expect(pushes).toHaveLength(2);
    expect(source.changed.waiting).toBe(0);
  });

  it('a log that cannot be read ends what is pushed, with the reason, once', async () => {
    const source = new StoredSource(ID, {
      range: () => Promise.reject(new TypeError('the database is away')),
    } as unknown as LogReader);
    const ends: unknown[] = [];
    const follower = new EventFollower(source, 0, (event) => event, {
      send: () => undefined,
      ended: (error) => ends.push(error),
    });
    follower.look();
    await delay(1);
    source.changed.signal();
    await delay(1);
    expect(ends).toEqual([new TypeError('the database is away')]);
  });

  it('shows the end that others wrote, also to who was shown what a stalled owner did too late', async () => {
    const logs = new Logs();
    const ignore = () => undefined;
    const hub = new EventHub(
      new TableLogWriter(logs.eventTable, ignore),
      new StoreLogWriter(logs.transient, 60, ignore),
    );
    const log = hub.open(ID);
    const local = () => new LocalSource(log, new LogReader(logs.transient, logs.eventTable), ignore);
    const forever = new AbortController().signal;
    emit(hub, log);
    const [early, late] = [watchEvents(local(), 0, forever), watchEvents(local(), 0, forever)];
    await early.next();
    const waiting = early.next();
    // A sweep ended the run under number 2, and the owner wakes up with a number 2 of its own.
    const stamp = '2026-01-01T00:00:01.000Z';
    logs.table.set(1, { eventId: 1, type: 'node_started', timestamp: stamp, data: '{}' });
    logs.table.set(2, { eventId: 2, type: 'execution_aborted', timestamp: stamp, data: '{}' });
    emit(hub, log);
    expect((await waiting).value).toMatchObject({ eventId: 2, type: 'node_started' });
    hub.disown(log);
    expect((await early.next()).value).toMatchObject({ eventId: 2, type: 'execution_aborted' });
    expect((await early.next()).done).toBe(true);
    const seen: string[] = [];
    for await (const { eventId, type } of late) seen.push(`${eventId} ${type}`);
    expect(seen).toEqual(['1 node_started', '2 execution_aborted']);
    expect(hub.local(ID)).toBeUndefined();
    hub.stop();
  });

  it('leaves nothing behind when watchers of another instance go away', async () => {
    const logs = new Logs();
    const reader = new LogReader(logs.transient, logs.eventTable);
    const remote = new RemoteLogs(logs.transient, reader, logs.rows, new SilentLogger(), 4);
    await remote.start();
    const stop = new AbortController();
    const sources = [remote.open(ID, 0), remote.open(ID, 3)];
    const ends = sources.map((source) => watchEvents(source, 0, stop.signal).next());
    expect(remote.watched).toEqual([ID]);
    stop.abort();
    await Promise.all(ends);
    for (const source of sources) source.close();
    sources[0]!.close();
    expect(remote.watched).toEqual([]);
    await remote.stop();
  });
});
