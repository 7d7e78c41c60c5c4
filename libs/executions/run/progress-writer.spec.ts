import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Heartbeats } from '../records/heartbeats.js';
import { ProgressWriter, type ProgressSource } from './progress-writer.js';

const INTERVAL_MS = 5000;

/** A table whose statements end when they are told to. */
class Table {
  readonly written: string[] = [];
  inFlight = 0;
  most = 0;
  readonly #open: { resolve: () => void; reject: (error: unknown) => void }[] = [];

  readonly progress: Heartbeats['progress'] = async (states) => {
    this.written.push(...[...states].map(([id, json]) => `${id} ${json}`));
    this.inFlight += 1;
    this.most = Math.max(this.most, this.inFlight);
    try {
      await new Promise<void>((resolve, reject) => this.#open.push({ resolve, reject }));
    } finally {
      this.inFlight -= 1;
    }
  };

  async end(error?: unknown): Promise<void> {
    const statement = this.#open.shift();
    if (error === undefined) statement?.resolve();
    else statement?.reject(error);
    await jest.advanceTimersByTimeAsync(0);
  }
}

/** A run whose state is a number that goes up. */
class Run implements ProgressSource {
  state = 0;
  ended = false;

  constructor(readonly executionId: string) {}

  nodeStatsJson(): string {
    return String(this.state);
  }
}

let table: Table;
let problems: unknown[];
let writer: ProgressWriter;

beforeEach(() => {
  jest.useFakeTimers();
  table = new Table();
  problems = [];
  writer = new ProgressWriter(table as unknown as Heartbeats, INTERVAL_MS, (error) => problems.push(error));
});

afterEach(() => {
  writer.stop();
  jest.useRealTimers();
});

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

describe('writing progress down', () => {
  it('has one statement in flight, and the next writes the newest state only', async () => {
    const [a, b] = [new Run('a'), new Run('b')];
    writer.boundary(a);
    await pass(1000);
    for (a.state = 1; a.state < 9; a.state++) {
      writer.boundary(a);
      await pass(1000);
    }
    writer.boundary(b);
    await pass(10_000);
    expect([table.written, table.inFlight]).toEqual([['a 0'], 1]);
    await table.end();
    await pass(1000);
    expect([table.written, table.most]).toEqual([['a 0', 'a 9', 'b 0'], 1]);
  });

  it('drops what could not be written, says so, and goes on with what comes', async () => {
    const run = new Run('a');
    writer.boundary(run);
    await pass(1000);
    const away = new RangeError('away');
    await table.end(away);
    await pass(60_000);
    expect([table.written, problems]).toEqual([['a 0'], [away]]);
    run.state = 1;
    writer.boundary(run);
    await pass(1000);
    expect(table.written).toEqual(['a 0', 'a 1']);
  });

  it('writes rows that go by once per interval, the last ones too', async () => {
    const run = new Run('a');
    for (run.state = 1; run.state < 100; run.state++) {
      writer.rows(run);
      await pass(100);
      await table.end();
    }
    // Ten seconds of rows: at the beginning and after each whole interval.
    expect(table.written).toHaveLength(2);
    await pass(INTERVAL_MS);
    await table.end();
    expect(table.written).toHaveLength(3);
    expect(table.written.at(-1)).toBe('a 100');
    await pass(60_000);
    expect(table.written).toHaveLength(3);
  });

  it('writes nothing of a run that is over or forgotten', async () => {
    const [over, forgotten] = [new Run('a'), new Run('b')];
    writer.boundary(over);
    writer.boundary(forgotten);
    over.ended = true;
    writer.forget(forgotten);
    await pass(60_000);
    expect(table.written).toEqual([]);
  });
});
