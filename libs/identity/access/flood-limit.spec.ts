import { afterEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '#libs/kernel';
import { eventually } from '../../../test/fixtures/eventually.js';
import { FloodLimit } from './flood-limit.js';

const WINDOW_MS = 80;

let told: [last: string, suppressed: number][] = [];
let limit: FloodLimit<string>;
const open = (windowMs = WINDOW_MS): void => {
  told = [];
  limit = new FloodLimit<string>(
    new SystemClock(),
    async (last, suppressed) => void told.push([last, suppressed]),
    windowMs,
  );
};
afterEach(() => limit.close());

async function flood(subject: string, rows: number): Promise<number> {
  let admitted = 0;
  for (let n = 1; n <= rows; n++) if (await limit.admit(subject, `${subject} ${n}`)) admitted += 1;
  return admitted;
}

describe('the limit of a flood', () => {
  it('tells by itself what it left out when the minute has passed: an attack that stops must not stay uncounted', async () => {
    open();
    expect(await flood('a', 75)).toBe(60);
    expect(told).toEqual([]);
    await eventually('the flood is told', () => told.length > 0);
    expect(told).toEqual([['a 75', 15]]);
    expect(await flood('a', 1)).toBe(1);
    await limit.close();
    expect(told).toHaveLength(1);
  });

  it('says nothing of a minute in which nothing was left out', async () => {
    open(10_000);
    expect(await flood('a', 60)).toBe(60);
    await limit.close();
    expect(told).toEqual([]);
  });

  it('tells at the end of the process what is not told yet, and each of it once', async () => {
    open(10_000);
    await flood('a', 61);
    await flood('b', 63);
    await limit.close();
    await limit.close();
    expect(told).toEqual([
      ['a 61', 1],
      ['b 63', 3],
    ]);
  });

  it('forgets no count when a flood of subjects pushes one out', async () => {
    open(60_000);
    await flood('first', 62);
    for (let n = 0; n < 10_000; n++) await limit.admit(`other ${n}`, '');
    expect(told).toEqual([['first 62', 2]]);
    expect(await flood('first', 1)).toBe(1);
  });
});
