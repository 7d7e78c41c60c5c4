import { describe, expect, it } from '@jest/globals';
import { CALCULATORS } from './index.js';
import { compute } from './calculators.fixture.js';

describe('fiscal calendars', () => {
  it.each([
    // start, day, fiscal year, quarter, bounds of the quarter, bounds of the year
    ['04-01', '2026-03-31', '2025', '4', '2026-01-01 2026-03-31', '2025-04-01 2026-03-31'],
    ['04-01', '2026-04-01', '2026', '1', '2026-04-01 2026-06-30', '2026-04-01 2027-03-31'],
    ['01-01', '2024-12-31', '2024', '4', '2024-10-01 2024-12-31', '2024-01-01 2024-12-31'],
    ['10-15', '2026-01-15', '2025', '2', '2026-01-15 2026-04-14', '2025-10-15 2026-10-14'],
    ['10-15', '2026-01-14', '2025', '1', '2025-10-15 2026-01-14', '2025-10-15 2026-10-14'],
    // Clamped starts: 31 January, then 30 April, 31 July, 31 October.
    ['01-31', '2026-01-30', '2025', '4', '2025-10-31 2026-01-30', '2025-01-31 2026-01-30'],
    ['01-31', '2026-01-31', '2026', '1', '2026-01-31 2026-04-29', '2026-01-31 2027-01-30'],
    ['01-31', '2026-04-30', '2026', '2', '2026-04-30 2026-07-30', '2026-01-31 2027-01-30'],
    ['01-31', '2026-10-31', '2026', '4', '2026-10-31 2027-01-30', '2026-01-31 2027-01-30'],
    // 30 November: its second quarter starts at the end of February.
    ['11-30', '2027-02-28', '2026', '2', '2027-02-28 2027-05-29', '2026-11-30 2027-11-29'],
    ['11-30', '2028-02-28', '2027', '1', '2027-11-30 2028-02-28', '2027-11-30 2028-11-29'],
    ['11-30', '2028-02-29', '2027', '2', '2028-02-29 2028-05-29', '2027-11-30 2028-11-29'],
    // 29 February, which most years do not have.
    ['02-29', '2024-02-28', '2023', '4', '2023-11-28 2024-02-28', '2023-02-28 2024-02-28'],
    ['02-29', '2024-02-29', '2024', '1', '2024-02-29 2024-05-28', '2024-02-29 2025-02-27'],
    ['02-29', '2025-02-27', '2024', '4', '2024-11-29 2025-02-27', '2024-02-29 2025-02-27'],
    ['02-29', '2025-02-28', '2025', '1', '2025-02-28 2025-05-27', '2025-02-28 2026-02-27'],
  ])('with a start on %s the day %s is in year %s, quarter %s', (start, date, year, quarter, bounds, ofYear) => {
    const inputs = (unit: string) => `{"date":"${date}","unit":"${unit}","mode":"fiscal","fiscal_start":"${start}"}`;
    expect(compute('fiscal_year', `{"date":"${date}","fiscal_start":"${start}"}`)).toBe(year);
    expect(compute('fiscal_quarter', `{"date":"${date}","fiscal_start":"${start}"}`)).toBe(quarter);
    expect(compute('period_bounds', inputs('quarter'))).toBe(bounds);
    expect(compute('period_bounds', inputs('year'))).toBe(ofYear);
  });

  it('leave no day without a period, and give none two, whatever the start', () => {
    for (const start of ['01-01', '01-31', '02-29', '03-31', '08-30', '11-30', '12-31']) {
      for (const unit of ['quarter', 'year']) {
        let day = '2023-06-01';
        for (let periods = 0; periods < 12; periods++) {
          const rest = `"unit":"${unit}","mode":"fiscal","fiscal_start":"${start}"`;
          const [first, last] = compute('period_bounds', `{"date":"${day}",${rest}}`).split(' ');
          expect(compute('period_bounds', `{"date":"${first}",${rest}}`)).toBe(`${first} ${last}`);
          expect(compute('period_bounds', `{"date":"${last}",${rest}}`)).toBe(`${first} ${last}`);
          day = compute('add_days', `{"date":"${last}","days":1}`);
          expect(compute('period_start', `{"date":"${day}",${rest}}`)).toBe(day);
          expect(compute('prior_period', `{"date":"${day}",${rest}}`)).toBe(first);
        }
      }
    }
  });

  it.each(['2-1', '00-10', '13-01', '02-30', '04-31', '1-1', ' 04-01', '04-00', ''])('refuse the start %j', (start) => {
    expect(compute('fiscal_year', JSON.stringify({ date: '2026-01-01', fiscal_start: start }))).toBe(
      'fiscal_start:value',
    );
  });

  it('need their start: a forgotten one must not quietly mean the calendar year', () => {
    expect(compute('fiscal_year', '{"date":"2026-01-01"}')).toBe('fiscal_start:null');
    expect(CALCULATORS.find(({ kind }) => kind === 'period_start')?.inputs.map(({ name }) => name)).toContain('mode');
  });
});
