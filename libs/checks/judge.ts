import { compareDecimals, type Decimal, parseNumberToken, powerOfTen } from '#libs/typesystem';
import type { Expectation } from './expectation.js';

/** What the server saw. */
export interface Observation {
  columnCount: number;
  rowCount: number;
  /** More rows were there than were read. */
  truncated: boolean;
  /** Wire text of the first row's first cell; null for NULL and for values without a wire form, such as NaN. */
  cell: string | null;
}

export type Observed = { value: string } | { rows: number };

/** `error`: no verdict could be formed, which is not the same as a check that said no (seed §4.20). */
export interface Judgement {
  verdict: 'pass' | 'fail' | 'error';
  observed: Observed | null;
  message: string | null;
}

/** Compares what was seen with what was expected, in exact decimals (contract 01 §9). */
export function judge(expectation: Expectation, seen: Observation): Judgement {
  return expectation.kind === 'rows' ? judgeRows(expectation.rows, seen) : judgeCell(expectation, seen);
}

function judgeRows(expected: number, { rowCount, truncated }: Observation): Judgement {
  const observed = { rows: rowCount };
  if (!truncated) {
    if (rowCount === expected) return { verdict: 'pass', observed, message: null };
    return { verdict: 'fail', observed, message: `Expected ${expected} rows, found ${rowCount}.` };
  }
  if (rowCount >= expected)
    return { verdict: 'fail', observed, message: `Expected ${expected} rows, found more than ${rowCount}.` };
  return error(`Only the first ${rowCount} rows could be read, too few to tell whether there are ${expected}.`);
}

function judgeCell(expectation: Exclude<Expectation, { kind: 'rows' }>, seen: Observation): Judgement {
  if (seen.columnCount !== 1 || seen.rowCount !== 1 || seen.truncated) {
    const rows = seen.truncated ? `more than ${seen.rowCount}` : `${seen.rowCount}`;
    return error(`The statement must give one row of one column; it gave ${rows} rows of ${seen.columnCount} columns.`);
  }
  if (seen.cell === null) return error('The statement gave NULL or a value that is no number; wrap it in COALESCE.');
  const value = parseNumberToken(seen.cell);
  if (value === null) return error('The statement gave a value that is no number; CAST it to a decimal.');
  const observed = { value: seen.cell };
  if (holds(expectation, value)) return { verdict: 'pass', observed, message: null };
  return { verdict: 'fail', observed, message: 'The value found is not the one expected.' };
}

function holds(expectation: Exclude<Expectation, { kind: 'rows' }>, value: Decimal): boolean {
  if (expectation.kind === 'range')
    return compareDecimals(expectation.min, value) <= 0 && compareDecimals(value, expectation.max) <= 0;
  return compareDecimals(distance(value, expectation.value), expectation.tolerance) <= 0;
}

function distance(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  const difference = a.unscaled * powerOfTen(scale - a.scale) - b.unscaled * powerOfTen(scale - b.scale);
  return { unscaled: difference < 0n ? -difference : difference, scale };
}

function error(message: string): Judgement {
  return { verdict: 'error', observed: null, message };
}
