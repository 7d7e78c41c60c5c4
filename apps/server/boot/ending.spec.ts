import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SilentLogger } from '#libs/kernel';
import { Ending, type EndingServer } from './ending.js';

const NEVER = new Promise<void>(() => undefined);

let exit: jest.SpiedFunction<typeof process.exit>;
let logger: SilentLogger;

beforeEach(() => {
  jest.useFakeTimers();
  exit = jest.spyOn(process, 'exit').mockReturnValue(undefined as never);
  logger = new SilentLogger();
});

afterEach(() => {
  process.removeAllListeners('uncaughtException');
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** A process that serves, with a drain of its own and 7 s of patience. */
function serving(drain: () => Promise<void>) {
  const stop = jest.fn<EndingServer['stop']>(drain);
  new Ending(logger).serves({ longestDrainMs: 7000, cannotExit: false, stop });
  return stop;
}

const broken = () => process.emit('uncaughtException', new RangeError('broken'));

describe('a process in which something was not caught', () => {
  it('drains in a hurry, once, and ends with 1 although the drain went well', async () => {
    const logged = jest.spyOn(logger, 'error');
    const stop = serving(() => Promise.resolve());
    broken();
    broken();
    expect(stop.mock.calls).toEqual([[{ hurry: true }]]);
    expect(logged).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(0);
    expect(exit.mock.calls).toEqual([[1]]);
  });

  it('ends with 1 when the drain fails', async () => {
    serving(() => Promise.reject(new RangeError('stuck')));
    broken();
    await jest.advanceTimersByTimeAsync(0);
    expect(exit.mock.calls).toEqual([[1]]);
  });

  it('ends with 1 by force 25 s after the longest drain, when that does not come to its end', async () => {
    serving(() => NEVER);
    broken();
    await jest.advanceTimersByTimeAsync(31_999);
    expect(exit).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(exit.mock.calls).toEqual([[1]]);
  });
});
