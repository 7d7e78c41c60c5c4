import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Heartbeats } from './heartbeats.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('the heartbeats of all streams', () => {
  it('beat for each once an interval, counted from its own beginning, on one timer', () => {
    const beats = new Heartbeats(20_000);
    const heard: string[] = [];
    beats.join({ beat: () => heard.push('early') });
    jest.advanceTimersByTime(7000);
    beats.join({ beat: () => heard.push('late') });
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(12_000);
    expect(heard).toEqual([]);
    jest.advanceTimersByTime(1000);
    expect(heard).toEqual(['early']);
    jest.advanceTimersByTime(7000);
    expect(heard).toEqual(['early', 'late']);
    jest.advanceTimersByTime(20_000);
    expect(heard).toEqual(['early', 'late', 'early', 'late']);
  });

  it('stop for who leaves, twice too, and the timer rests when nobody is left', () => {
    const beats = new Heartbeats(20_000);
    const heard: string[] = [];
    const [one, other] = ['one', 'other'].map((name) => ({ beat: () => void heard.push(name) }));
    beats.join(one!);
    beats.join(other!);
    beats.leave(one!);
    beats.leave(one!);
    jest.advanceTimersByTime(20_000);
    expect(heard).toEqual(['other']);
    beats.leave(other!);
    expect(jest.getTimerCount()).toBe(0);
    beats.join(one!);
    jest.advanceTimersByTime(20_000);
    expect(heard).toEqual(['other', 'one']);
  });
});
