import { describe, expect, it } from '@jest/globals';

import { queryPlan, type PlanReading } from './query-plan.js';

const reading = (text: string | null): PlanReading => ({
  statement: (sql) => `EXPLAIN ${sql}`,
  plan: () => (text === null ? null : { text, scan: 'SCAN t', estimated_rows: 3 }),
});

describe('what an engine says of a query', () => {
  it('is its own text up to 4,096 characters, and never half a character', () => {
    expect(queryPlan(reading('Seq Scan'), [])).toEqual({ scan: 'SCAN t', estimated_rows: 3, raw: 'Seq Scan' });
    expect(queryPlan(reading('x'.repeat(4096)), [])?.raw).toBe('x'.repeat(4096));
    expect(queryPlan(reading('x'.repeat(5000)), [])?.raw).toBe('x'.repeat(4096));
    // A table's name may be of any alphabet, and the cut may fall into the middle of a letter.
    const cut = queryPlan(reading(`${'x'.repeat(4095)}🚰`), [])?.raw ?? '';
    expect([cut.length, cut.isWellFormed(), cut.endsWith('\ufffd')]).toEqual([4096, true, true]);
  });

  it('is nothing where it says nothing', () => {
    expect(queryPlan(reading(null), [])).toBeNull();
  });
});
