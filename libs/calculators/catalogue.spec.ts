import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readJson, writeJson } from '#libs/kernel';
import { encodeWire } from '#libs/typesystem';
import { literalJson } from './calculator.js';
import { CALCULATORS, describeCalculator, evaluate, findCalculator, renderCalculatorReference } from './index.js';

describe('the catalogue', () => {
  it('holds the kinds of the contract, no more and no less: a body names them for ever', () => {
    expect(CALCULATORS.map(({ kind }) => kind).sort()).toEqual(
      [
        'quarter_of_year iso_week iso_year days_in_month fiscal_year fiscal_quarter period_start period_end prior_period',
        'period_bounds trailing_periods date_trunc day_of_week date_diff add_days add_months add_business_days date_parse',
        'date_format tz_shift round percent_change coalesce if_null map',
      ]
        .join(' ')
        .split(' ')
        .sort(),
    );
    expect(findCalculator('constructor')).toBeUndefined();
  });

  it.each(CALCULATORS.map((calculator) => [calculator.kind, calculator] as const))(
    '%s gives what its own examples say, and can be found by a phrase',
    (_kind, calculator) => {
      expect(calculator.phrases.length).toBeGreaterThan(0);
      expect(calculator.examples.length).toBeGreaterThan(0);
      for (const { inputs, outputs } of calculator.examples) {
        const given = new Map(Object.entries(inputs).map(([name, value]) => [name, literalJson(value)]));
        const result = evaluate(calculator, given, () => undefined);
        if (!result.ok) throw new TypeError(`${calculator.kind}: ${result.message}`);
        const wire = [...result.outputs].map(([name, { type, value }]) => `"${name}":${encodeWire(type, value)}`);
        expect(JSON.parse(`{${wire.join(',')}}`)).toEqual(outputs);
      }
    },
  );

  it('is listed in the documents as it is', () => {
    const page = readFileSync(new URL('../../docs/generated/calculators.md', import.meta.url), 'utf8');
    expect(page).toBe(renderCalculatorReference());
  });

  it('shows nodes that can be pasted', () => {
    const described = CALCULATORS.map(describeCalculator);
    expect(JSON.parse(writeJson(described.find(({ kind }) => kind === 'period_bounds')?.examples[0]?.node))).toEqual({
      id: 'compute_period_bounds',
      type: 'CALCULATOR',
      kind: 'period_bounds',
      inputs: { date: '2026-03-04', unit: 'week' },
      context_keys: { start: 'period_bounds_start', end: 'period_bounds_end' },
    });
    expect(() => readJson(writeJson(described))).not.toThrow();
  });
});
