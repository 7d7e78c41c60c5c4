import { describe, expect, it } from '@jest/globals';
import { keptPlans, textPlan } from './text-plan.js';

const BOUND = 32 * 1024 * 1024;

describe('plans of texts', () => {
  it('are made once for equal texts of one dialect', () => {
    const text = "SELECT 1 AS one, 'a' AS a";
    expect(textPlan('POSTGRES', text)).toBe(textPlan('POSTGRES', text));
    expect(textPlan('MYSQL', text)).not.toBe(textPlan('POSTGRES', text));
  });

  it.each([
    ['of nothing but literals', (at: number) => `SELECT ${"'',".repeat(9000)} ${at}`],
    ['of nothing but one word', (at: number) => `SELECT ${'a'.repeat(30_000)}${at}`],
  ])('keep within their memory, and the ones asked for last: %s', (_, make) => {
    const first = textPlan('POSTGRES', make(0));
    for (let at = 1; at < 400; at++) {
      textPlan('POSTGRES', make(at));
      expect(keptPlans().bytes).toBeLessThanOrEqual(BOUND);
    }
    const { plans } = keptPlans();
    expect(plans).toBeGreaterThan(10);
    expect(plans).toBeLessThan(400);
    expect(textPlan('POSTGRES', make(399))).toBe(textPlan('POSTGRES', make(399)));
    expect(textPlan('POSTGRES', make(0))).not.toBe(first);
  });

  it('are not kept of long texts', () => {
    const before = keptPlans();
    textPlan('POSTGRES', `SELECT ${'1,'.repeat(20_000)} 1`);
    expect(keptPlans()).toEqual(before);
  });
});
