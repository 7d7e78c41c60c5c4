import { describe, expect, it } from '@jest/globals';

import {
  birthTrust,
  FACT_EVENTS,
  FACT_TRUSTS,
  transition,
  trustAfter,
  type FactEvent,
  type FactTrust,
} from './fact-trust.js';

/** The contract's table, written out: every state × every event. */
const EXPECTED: Record<FactTrust, Record<FactEvent, FactTrust>> = {
  asserted: { columns_changed: 'needs_review', ref_gone: 'stale', verified: 'verified', retired: 'retired' },
  observed: { columns_changed: 'needs_review', ref_gone: 'stale', verified: 'verified', retired: 'retired' },
  verified: { columns_changed: 'needs_review', ref_gone: 'stale', verified: 'verified', retired: 'retired' },
  needs_review: { columns_changed: 'needs_review', ref_gone: 'stale', verified: 'verified', retired: 'retired' },
  stale: { columns_changed: 'stale', ref_gone: 'stale', verified: 'verified', retired: 'retired' },
  retired: { columns_changed: 'retired', ref_gone: 'retired', verified: 'retired', retired: 'retired' },
};

describe('the trust of a fact', () => {
  it.each(FACT_TRUSTS.flatMap((trust) => FACT_EVENTS.map((event) => [trust, event] as const)))(
    '%s after %s',
    (trust, event) => expect(trustAfter(trust, event)).toBe(EXPECTED[trust][event]),
  );

  it('is never raised by a machine, whatever it reads and in whatever order', () => {
    const rank: Record<FactTrust, number> = {
      verified: 3,
      observed: 3,
      asserted: 3,
      needs_review: 2,
      stale: 1,
      retired: 0,
    };
    for (const trust of FACT_TRUSTS) {
      for (const event of ['columns_changed', 'ref_gone'] as const) {
        expect(rank[trustAfter(trust, event)]).toBeLessThanOrEqual(rank[trust]);
        expect(['needs_review', 'stale', trust]).toContain(trustAfter(trust, event));
      }
    }
  });

  it('ends with its retirement', () => {
    for (const event of FACT_EVENTS) expect(trustAfter('retired', event)).toBe('retired');
  });

  it('has guards in SQL that are the same table', () => {
    for (const event of FACT_EVENTS) {
      const { from, to } = transition(event);
      expect(FACT_TRUSTS.filter((trust) => from.includes(trust)).map((trust) => trustAfter(trust, event))).toEqual(
        from.map(() => to),
      );
    }
  });

  it('begins with evidence for what is about data, without for a team’s own rule', () => {
    expect([birthTrust('DATASOURCE', true), birthTrust('DATASOURCE', false)]).toEqual(['observed', 'asserted']);
    expect([birthTrust('WORKSPACE', true), birthTrust('WORKSPACE', false)]).toEqual(['asserted', 'asserted']);
  });
});
