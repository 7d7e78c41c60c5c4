import { describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { FanOut } from './fan-out.js';

/** Until everything that was to be called has been. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 50; turns++) await turn();
}

describe('telling thousands of a change', () => {
  it('happens behind the one who changes, and once for what changed in one turn', async () => {
    const fanOut = new FanOut();
    let calls = 0;
    fanOut.listen(() => (calls += 1));
    fanOut.changed();
    fanOut.changed();
    expect(calls).toBe(0);
    await turn();
    expect(calls).toBeGreaterThan(0);
  });

  it('makes one more round for what changes while it calls', async () => {
    const fanOut = new FanOut();
    const order: string[] = [];
    fanOut.listen(() => {
      order.push('first');
      if (order.length === 1) fanOut.changed();
    });
    fanOut.listen(() => order.push('second'));
    fanOut.changed();
    await settled();
    expect(order).toEqual(['first', 'second', 'first', 'second']);
  });

  it('leaves out who has gone meanwhile, and holds nobody who left', async () => {
    const fanOut = new FanOut();
    const called: string[] = [];
    let leave: () => void = () => undefined;
    fanOut.listen(() => {
      called.push('stays');
      leave();
    });
    leave = fanOut.listen(() => called.push('has left'));
    fanOut.changed();
    await settled();
    expect(called).toEqual(['stays']);
    expect(fanOut.size).toBe(1);
  });

  it('lets the event loop work in between when the listeners take long', async () => {
    const fanOut = new FanOut();
    let called = 0;
    let seenAtTurn: number | undefined;
    const busy = (): void => {
      const until = performance.now() + 1;
      while (performance.now() < until) continue;
      called += 1;
      if (called === 1) setImmediate(() => (seenAtTurn = called));
    };
    for (let listener = 0; listener < 200; listener++) fanOut.listen(() => busy());
    fanOut.changed();
    await settled();
    expect(called).toBe(200);
    expect(seenAtTurn).toBeLessThan(200);
  });
});
