import { describe, expect, it } from '@jest/globals';
import type { EventFrame, ExecutionEvents } from '#libs/executions';
import { PenstockError, SilentLogger, type Principal } from '#libs/kernel';
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

type Events = Pick<ExecutionEvents, 'watch' | 'stream'>;
let held = 0;
const stream = (): ReturnType<Events['stream']> => {
  held += 1;
  return Promise.resolve({ release: () => Promise.resolve(void (held -= 1)) });
};

function events(frames: () => AsyncGenerator<EventFrame>): Events {
  return {
    stream,
    watch: (_principal, executionId) =>
      Promise.resolve({
        executionId,
        nothingLeft: false,
        frames: frames(),
        follow: () => undefined,
        remark: () => undefined,
      }),
  };
}

async function* lost(): AsyncGenerator<EventFrame> {
  yield frame(1);
  await Promise.reject(new Error('the store went away'));
}

describe('the progress of a run', () => {
  it.each<[string, Events]>([
    ['cannot be watched', { stream, watch: () => Promise.reject(new Error('away')) }],
    [
      'cannot be counted',
      { stream: () => Promise.reject(new Error('store')), watch: () => Promise.reject(new Error()) },
    ],
    ['is lost on the way', events(lost)],
  ])(
    'that %s leaves the call its answer: a run that goes on must not be answered as a failure',
    async (_what, from) => {
      const log = new WarningsHeard();
      const teller = new ProgressTeller(from, log);
      await expect(teller.tell({} as Principal, 'e', () => Promise.resolve(), signal)).resolves.toBeUndefined();
      expect([log.warnings, held]).toEqual([1, 0]);
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
    expect(held).toBe(0);
  });

  it('of somebody who has all the streams there may be is told by one sentence, and opens no more', async () => {
    const told: ProgressStep[] = [];
    const full = new PenstockError('rate_limit.exceeded', { message: 'You have 10 streams open, which is the limit.' });
    const from: Events = {
      stream: () => Promise.reject(full),
      watch: () => Promise.reject(new Error('opened all the same')),
    };
    const log = new WarningsHeard();
    for (const gone of [false, true]) {
      const progress = (step: ProgressStep): Promise<void> => {
        told.push(step);
        return gone ? Promise.reject(new Error('closed')) : Promise.resolve();
      };
      await new ProgressTeller(from, log).tell({} as Principal, 'e', progress, signal);
    }
    expect([told.length, told[0]?.message, log.warnings]).toEqual([2, expect.stringContaining('10 streams open'), 0]);
  });
});
