import { describe, expect, it } from '@jest/globals';
import type { EventFrame, ExecutionEvents } from '#libs/executions';
import { SilentLogger, type Principal } from '#libs/kernel';
import type { ProgressStep } from '../tool.js';
import { ProgressTeller } from './progress-teller.js';

const { signal } = new AbortController();
const frame = (eventId: number): EventFrame =>
  ({ eventId, type: 'node_started', data: `{"node_id": "n${eventId}"}` }) as EventFrame;

class WarningsHeard extends SilentLogger {
  warnings = 0;
  override warn(): void {
    this.warnings += 1;
  }
}

function events(frames: () => AsyncGenerator<EventFrame>): Pick<ExecutionEvents, 'watch'> {
  return {
    watch: (_principal, executionId) =>
      Promise.resolve({ executionId, nothingLeft: false, frames: frames(), remark: () => undefined }),
  };
}

async function* lost(): AsyncGenerator<EventFrame> {
  yield frame(1);
  await Promise.reject(new Error('the store went away'));
}

describe('the progress of a run', () => {
  it.each<[string, Pick<ExecutionEvents, 'watch'>]>([
    ['cannot be watched', { watch: () => Promise.reject(new Error('away')) }],
    ['is lost on the way', events(lost)],
  ])(
    'that %s leaves the call its answer: a run that goes on must not be answered as a failure',
    async (_what, from) => {
      const log = new WarningsHeard();
      const teller = new ProgressTeller(from, log);
      await expect(teller.tell({} as Principal, 'e', () => Promise.resolve(), signal)).resolves.toBeUndefined();
      expect(log.warnings).toBe(1);
    },
  );

  it('is told event by event, and a client that takes no more is not asked again', async () => {
    const told: ProgressStep[] = [];
    const progress = (step: ProgressStep): Promise<void> => {
      told.push(step);
      return told.length < 2 ? Promise.resolve() : Promise.reject(new Error('closed'));
    };
    async function* three(): AsyncGenerator<EventFrame> {
      for (const id of [1, 2, 3]) yield await Promise.resolve(frame(id));
    }
    await new ProgressTeller(events(three), new SilentLogger()).tell({} as Principal, 'e', progress, signal);
    expect(told).toEqual([
      { progress: 1, message: 'Node n1 started.' },
      { progress: 2, message: 'Node n2 started.' },
    ]);
  });
});
