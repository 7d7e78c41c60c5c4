import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { InstanceRoster } from '#libs/executions';
import type { SessionPurge } from '#libs/identity';
import { loadConfiguration, SilentLogger } from '#libs/kernel';
import { IdentityJobs } from './identity-jobs.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** A purge that goes as it is told; a text is a failure. */
function jobs(outcomes: (number | string)[], env: Record<string, string> = {}) {
  const told: string[][] = [];
  const run = async (): Promise<number> => {
    const next = outcomes.shift() ?? 0;
    if (typeof next === 'string') throw new TypeError(next);
    return next;
  };
  const roster = { ended: (...job: string[]) => void told.push(job) } as unknown as InstanceRoster;
  const configuration = loadConfiguration(env);
  return {
    told,
    jobs: new IdentityJobs({ run } as unknown as SessionPurge, roster, configuration, new SilentLogger()),
  };
}

describe('the purge of ended sessions', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is told to the operator as every job is, whether it went well or not, and a failed one comes again', async () => {
    const purge = jobs([3, 'the database is away', 0]);
    purge.jobs.start();
    await jest.advanceTimersByTimeAsync(MINUTE_MS);
    expect(purge.told).toEqual([['session purge', 'SUCCESS']]);
    await jest.advanceTimersByTimeAsync(2 * DAY_MS);
    expect(purge.told.map(([, outcome]) => outcome)).toEqual(['SUCCESS', 'FAILED', 'SUCCESS']);
    await purge.jobs.stop();
    await jest.advanceTimersByTimeAsync(2 * DAY_MS);
    expect(purge.told).toHaveLength(3);
  });

  it('does not run where jobs are off', async () => {
    const purge = jobs([1], { DATAPIPELINES_JOBS_ENABLED: 'false' });
    purge.jobs.start();
    await jest.advanceTimersByTimeAsync(DAY_MS);
    expect(purge.told).toEqual([]);
    await purge.jobs.stop();
  });
});
