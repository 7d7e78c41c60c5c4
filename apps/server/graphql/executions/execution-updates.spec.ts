import { describe, expect, it } from '@jest/globals';
import type { ExecutionService, ExecutionView } from '#libs/executions';
import type { Principal } from '#libs/kernel';
import { ExecutionUpdates } from './execution-updates.js';

/** A run that is another at every look. */
function changingRun() {
  const looks: number[] = [];
  const view = (): ExecutionView => {
    looks.push(performance.now());
    return { execution_id: 'x', status: 'RUNNING', node_stats: { rows: looks.length } } as unknown as ExecutionView;
  };
  const service = {
    read: () => Promise.resolve(view()),
    list: () => Promise.resolve({ items: [{ execution: view() }] }),
  } as unknown as ExecutionService;
  return { looks, updates: new ExecutionUpdates(service) };
}

describe('updates of a run that changes all the time', () => {
  it.each(['ofExecution', 'ofPipeline'] as const)(
    'come at most once a second, and cost one look each: %s',
    async (way) => {
      const { looks, updates } = changingRun();
      const leave = new AbortController();
      const views = updates[way]({} as Principal, 'x', leave.signal);
      expect((await views.next()).done).toBe(false);
      expect((await views.next()).done).toBe(false);
      // Timers may be a millisecond early.
      expect([looks.length, looks[1]! - looks[0]! >= 990]).toEqual([2, true]);
      const third = views.next();
      leave.abort();
      expect([(await third).done, looks.length]).toEqual([true, 2]);
    },
  );
});
