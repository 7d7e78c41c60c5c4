import { describe, expect, it } from '@jest/globals';
import { SilentLogger } from '#libs/kernel';
import type { TransientStore } from '#libs/transient';
import type { ExecutionRun } from '../run/execution-run.js';
import { Cancellations } from './cancellations.js';
import { RunRegistry } from './run-registry.js';
import { eventually } from '../../../test/fixtures/eventually.js';

const POLL_MS = 3_600_000;

describe('cancellations asked elsewhere', () => {
  it('a nudge that comes while a look is under way is not lost: the flag may be newer than that look', async () => {
    const flags = new Map<string, string>();
    const answers: (() => void)[] = [];
    let nudge: (executionId: string) => void = () => undefined;
    const store = {
      readCancels: () => {
        const seen = new Map(flags);
        return new Promise((resolve) => answers.push(() => resolve(seen)));
      },
      subscribe: (_channel: string, onMessage: (executionId: string) => void) => {
        nudge = onMessage;
        return Promise.resolve(() => Promise.resolve());
      },
    } as unknown as TransientStore;
    const runs = new RunRegistry(1);
    const cancelled = new Promise((resolve) => {
      runs.reserve()!.enter({ executionId: 'a', cancel: resolve } as unknown as ExecutionRun);
    });
    const cancellations = new Cancellations(store, runs, POLL_MS, new SilentLogger());
    await cancellations.start();

    const first = cancellations.look();
    flags.set('a', 'cancelled');
    nudge('a');
    answers[0]!();
    await eventually('a second look', () => answers.length === 2);
    answers[1]!();
    expect(await cancelled).toBe('cancelled');
    await first;
    await cancellations.stop();
  });

  it.each([
    ['by the poll, where every nudge is lost', 10, () => undefined],
    ['at the boundary of a node', POLL_MS, (cancellations: Cancellations) => cancellations.lookSoon()],
  ])('are heard of %s, all runs in one question', async (_when, pollMs, boundary) => {
    const asked: (readonly string[])[] = [];
    const store = {
      readCancels: (ids: readonly string[]) => {
        asked.push(ids);
        return Promise.resolve(new Map([['b', 'shutdown']]));
      },
      subscribe: () => Promise.resolve(() => Promise.resolve()),
    } as unknown as TransientStore;
    const runs = new RunRegistry(2);
    const enter = (executionId: string, cancel: (reason: string) => void) =>
      runs.reserve()!.enter({ executionId, cancel } as unknown as ExecutionRun);
    const others: string[] = [];
    enter('a', (reason) => others.push(reason));
    const cancelled = new Promise((resolve) => enter('b', resolve));
    const cancellations = new Cancellations(store, runs, pollMs, new SilentLogger());
    await cancellations.start();
    boundary(cancellations);
    expect(await cancelled).toBe('shutdown');
    expect([others, asked[0]]).toEqual([[], ['a', 'b']]);
    await cancellations.stop();
  });
});
