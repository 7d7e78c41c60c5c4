import { describe, expect, it } from '@jest/globals';
import { compute } from './calculators.fixture.js';

/** Worked out by hand, from printed calendars. */
describe('weeks', () => {
  it.each([
    // ISO years with 53 weeks: 2004, 2009, 2015, 2020, 2026.
    ['2004-12-31', '53', '2004'],
    ['2005-01-01', '53', '2004'],
    ['2005-01-03', '1', '2005'],
    ['2008-12-29', '1', '2009'],
    ['2010-01-03', '53', '2009'],
    ['2015-12-31', '53', '2015'],
    ['2016-01-03', '53', '2015'],
    ['2020-12-31', '53', '2020'],
    ['2021-01-03', '53', '2020'],
    ['2021-01-04', '1', '2021'],
    ['2026-12-31', '53', '2026'],
    ['2027-01-03', '53', '2026'],
    ['2024-12-30', '1', '2025'],
    ['2023-01-01', '52', '2022'],
    ['0001-01-01', '1', '1'],
    ['9999-12-31', '52', '9999'],
  ])('%s is in ISO week %s of %s', (date, week, year) => {
    expect(compute('iso_week', `{"date":"${date}"}`)).toBe(week);
    expect(compute('iso_year', `{"date":"${date}"}`)).toBe(year);
  });

  it.each([
    ['monday', '2026-02-23', '2026-03-01', '7'],
    ['sunday', '2026-03-01', '2026-03-07', '1'],
    ['saturday', '2026-02-28', '2026-03-06', '2'],
    ['tuesday', '2026-02-24', '2026-03-02', '6'],
  ])('a week that starts on %s holds Sunday, 1 March 2026 from %s to %s', (first, start, end, day) => {
    const inputs = `{"date":"2026-03-01","unit":"week","week_start":"${first}"}`;
    expect(compute('period_bounds', inputs)).toBe(`${start} ${end}`);
    expect(compute('date_trunc', inputs)).toBe(start);
    expect(compute('day_of_week', `{"date":"2026-03-01","week_start":"${first}"}`)).toBe(day);
  });
});

describe('calendar periods', () => {
  it.each([
    ['period_bounds', '{"date":"2024-02-29","unit":"month"}', '2024-02-01 2024-02-29'],
    ['period_bounds', '{"date":"1900-02-10","unit":"month"}', '1900-02-01 1900-02-28'],
    ['period_bounds', '{"date":"2000-02-10","unit":"month"}', '2000-02-01 2000-02-29'],
    ['period_bounds', '{"date":"2026-12-31","unit":"quarter"}', '2026-10-01 2026-12-31'],
    ['period_bounds', '{"date":"2026-12-31","unit":"year"}', '2026-01-01 2026-12-31'],
    ['period_start', '{"date":"2026-01-01","unit":"year"}', '2026-01-01'],
    ['period_end', '{"date":"2026-02-01","unit":"month","mode":"fiscal","fiscal_start":"04-06"}', '2026-02-28'],
    ['prior_period', '{"date":"2026-01-31","unit":"month"}', '2025-12-01'],
    ['prior_period', '{"date":"2026-01-31","unit":"quarter","offset":4}', '2025-01-01'],
    ['prior_period', '{"date":"2026-01-31","unit":"week","offset":0}', '2026-01-26'],
    ['prior_period', '{"date":"2026-01-31","unit":"year","offset":-1}', '2027-01-01'],
    ['trailing_periods', '{"date":"2026-03-31","unit":"month"}', '2026-02-01 2026-02-28'],
    ['trailing_periods', '{"date":"2026-01-05","unit":"week","count":2}', '2025-12-22 2026-01-04'],
    ['trailing_periods', '{"date":"2026-05-01","unit":"quarter","count":4}', '2025-04-01 2026-03-31'],
    ['trailing_periods', '{"date":"2026-05-01","unit":"year","count":0}', 'count:value'],
    ['date_trunc', '{"date":"2026-08-31","unit":"quarter"}', '2026-07-01'],
    ['date_trunc', '{"date":"2026-08-31","unit":"day"}', '2026-08-31'],
    ['quarter_of_year', '{"date":"2026-03-31"}', '1'],
    ['quarter_of_year', '{"date":"2026-04-01"}', '2'],
    ['days_in_month', '{"date":"2100-02-01"}', '28'],
    // The edge of what a DATE can show.
    ['period_end', '{"date":"9999-12-31","unit":"year"}', '9999-12-31'],
    ['period_start', '{"date":"0001-01-02","unit":"week","week_start":"sunday"}', ':range'],
    ['prior_period', '{"date":"0001-01-31","unit":"month"}', ':range'],
    ['prior_period', '{"date":"2026-01-31","unit":"year","offset":2147483647}', ':range'],
  ])('%s of %s is %s', (kind, inputs, expected) => {
    expect(compute(kind, inputs)).toBe(expected);
  });
});

describe('steps and distances', () => {
  it.each([
    ['add_days', '{"date":"2024-02-28","days":1}', '2024-02-29'],
    ['add_days', '{"date":"2024-03-01","days":-366}', '2023-03-01'],
    ['add_days', '{"date":"9999-12-31","days":1}', ':range'],
    ['add_days', '{"date":"2026-01-01","days":2147483647}', ':range'],
    ['add_months', '{"date":"2026-01-31","months":1}', '2026-02-28'],
    ['add_months', '{"date":"2024-01-31","months":1}', '2024-02-29'],
    ['add_months', '{"date":"2024-02-29","months":12}', '2025-02-28'],
    ['add_months', '{"date":"2026-03-31","months":-1}', '2026-02-28'],
    ['add_months', '{"date":"2026-03-31","months":-2147483648}', ':range'],
    ['date_diff', '{"from":"2026-01-01","to":"2026-01-01","unit":"day"}', '0'],
    ['date_diff', '{"from":"2026-01-14","to":"2026-01-01","unit":"week"}', '-1'],
    ['date_diff', '{"from":"2026-01-04","to":"2026-01-01","unit":"week"}', '0'],
    ['date_diff', '{"from":"2026-01-31","to":"2026-03-30","unit":"month"}', '1'],
    ['date_diff', '{"from":"2026-03-31","to":"2026-02-28","unit":"month"}', '-1'],
    ['date_diff', '{"from":"2026-03-15","to":"2026-02-20","unit":"month"}', '0'],
    ['date_diff', '{"from":"2024-02-29","to":"2025-02-28","unit":"year"}', '0'],
    ['date_diff', '{"from":"2024-02-29","to":"2028-02-29","unit":"year"}', '4'],
    ['date_diff', '{"from":"2026-12-31","to":"2026-01-01","unit":"quarter"}', '-3'],
    ['date_diff', '{"from":"0001-01-01","to":"9999-12-31","unit":"day"}', '3652058'],
    ['date_diff', '{"from":"2026-01-01","to":"2026-01-02","unit":"hour"}', 'unit:value'],
  ])('%s of %s is %s', (kind, inputs, expected) => {
    expect(compute(kind, inputs)).toBe(expected);
  });
});

describe('working days', () => {
  const walk = (rest: string) => compute('add_business_days', `{"date":"2026-12-23",${rest}}`);

  it.each([
    // Wednesday, 23 December 2026.
    ['"days":0', '2026-12-23'],
    ['"days":1', '2026-12-24'],
    ['"days":3', '2026-12-28'],
    ['"days":3,"holidays":["2026-12-25","2026-12-28","2026-12-25"]', '2026-12-30'],
    ['"days":-3', '2026-12-18'],
    ['"days":3,"weekend_days":["friday"]', '2026-12-27'],
    ['"days":3,"weekend_days":[]', '2026-12-26'],
    ['"days":1,"weekend_days":["monday","tuesday","wednesday","thursday","friday","saturday"]', '2026-12-27'],
    ['"days":100000', '2410-04-14'],
    ['"days":100001', 'days:value'],
    ['"days":-100001', 'days:value'],
    [
      '"days":1,"weekend_days":["monday","tuesday","wednesday","thursday","friday","saturday","sunday"]',
      'weekend_days:value',
    ],
    ['"days":1,"weekend_days":["Saturday"]', 'weekend_days:value'],
    ['"days":1,"holidays":["2026-02-30"]', 'holidays:value'],
  ])('%s gives %s', (rest, expected) => {
    expect(walk(rest)).toBe(expected);
  });

  it('counts from a weekend, without it', () => {
    expect(compute('add_business_days', '{"date":"2026-12-26","days":1}')).toBe('2026-12-28');
    expect(compute('add_business_days', '{"date":"2026-12-27","days":-1}')).toBe('2026-12-25');
    expect(compute('add_business_days', '{"date":"2026-12-27","days":0}')).toBe('2026-12-27');
  });
});
