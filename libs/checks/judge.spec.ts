import { describe, expect, it } from '@jest/globals';
import { type Decimal, parseNumberToken } from '#libs/typesystem';
import { type Expectation, rowsToRead } from './expectation.js';
import { judge, type Observation } from './judge.js';

const number = (text: string): Decimal => parseNumberToken(text)!;
const value = (text: string, tolerance = '0'): Expectation => ({
  kind: 'value',
  value: number(text),
  tolerance: number(tolerance),
});
const range = (min: string, max: string): Expectation => ({ kind: 'range', min: number(min), max: number(max) });
const rows = (count: number): Expectation => ({ kind: 'rows', rows: count });
const cell = (text: string | null, shape: Partial<Observation> = {}): Observation => ({
  columnCount: 1,
  rowCount: 1,
  truncated: false,
  cell: text,
  ...shape,
});
const found = (rowCount: number, truncated = false): Observation => cell(null, { rowCount, truncated });

const DIGITS = '12345678901234567890123456789012345678901234567890';

describe('the verdict of a release check', () => {
  it.each<[string, Expectation, string, 'pass' | 'fail']>([
    ['equal', value('74.62'), '74.62', 'pass'],
    ['equal at another scale', value('74.62'), '74.6200', 'pass'],
    ['a sum that doubles round away', value('0.3'), '0.30000000000000004', 'fail'],
    ['the last of fifty digits', value(DIGITS), `${DIGITS.slice(0, -1)}1`, 'fail'],
    ['fifty digits', value(DIGITS), DIGITS, 'pass'],
    ['exactly the tolerance below', value('10', '0.1'), '9.9', 'pass'],
    ['exactly the tolerance above', value('10', '0.1'), '10.1', 'pass'],
    ['a hair past the tolerance', value('10', '0.1'), '10.1000000000000000000000000000000000001', 'fail'],
    ['a wrong sign', value('5'), '-5', 'fail'],
    ['negative zero', value('0'), '-0', 'pass'],
    ['an approximate number with exponent', value('1e20'), '1e+20', 'pass'],
    ['the lower end', range('1', '2'), '1.0', 'pass'],
    ['the upper end', range('1', '2'), '2', 'pass'],
    ['below the range', range('1', '2'), '0.99999999999999999999999999999999999999', 'fail'],
    ['above the range', range('1', '2'), '2.00000000000000000000000000000000000001', 'fail'],
  ])('compares exactly: %s', (_name, expectation, text, verdict) => {
    expect(judge(expectation, cell(text))).toMatchObject({ verdict, observed: { value: text } });
  });

  it.each<[string, Observation]>([
    ['NULL or NaN', cell(null)],
    ['a text', cell('many')],
    ['an empty text', cell('')],
    ['no row', cell(null, { rowCount: 0 })],
    ['two rows', cell('1', { rowCount: 2 })],
    ['more rows than were read', cell('1', { truncated: true })],
    ['one row of two columns', cell('1', { columnCount: 2 })],
  ])('is an error, not a failure, and observes nothing: %s', (_name, seen) => {
    expect(judge(value('1'), seen)).toMatchObject({ verdict: 'error', observed: null });
    expect(judge(range('0', '2'), seen).message?.length).toBeLessThanOrEqual(500);
  });

  it.each<[string, Expectation, Observation, object]>([
    ['none expected, none there', rows(0), found(0), { verdict: 'pass', observed: { rows: 0 } }],
    ['as many', rows(6), found(6), { verdict: 'pass', observed: { rows: 6 } }],
    ['fewer', rows(6), found(5), { verdict: 'fail', observed: { rows: 5 } }],
    ['one more', rows(6), found(7), { verdict: 'fail', observed: { rows: 7 } }],
    ['far more', rows(6), found(7, true), { verdict: 'fail', observed: { rows: 7 } }],
    ['cut at the count itself', rows(500), found(500, true), { verdict: 'fail', observed: { rows: 500 } }],
    ['cut below the count', rows(501), found(500, true), { verdict: 'error', observed: null }],
  ])('counts rows: %s', (_name, expectation, seen, judgement) => {
    expect(judge(expectation, seen)).toMatchObject(judgement);
  });

  it('asks for one row more than expected, never more than 500', () => {
    expect([rows(0), rows(6), rows(499), rows(9000), value('1')].map(rowsToRead)).toEqual([1, 7, 500, 500, 2]);
  });
});
