import { ratioToLimit, verdictOf, type Direction, type Thresholds, type Verdict } from './statistics.js';

/** One line of the table: a value, the physical limit measured beside it, and what is asked of it. */
export interface Measurement {
  path: string;
  unit: string;
  better: Direction;
  value: number;
  /** Measured in the same run on the same machine. */
  limit?: { what: string; value: number };
  /** Of the value, or of its ratio to the limit. */
  asked?: Thresholds & { of: 'value' | 'ratio' };
  /** What the number alone does not say. */
  note?: string;
}

export interface Judged extends Measurement {
  ratio?: number;
  verdict?: Verdict;
}

export function judge(measurement: Measurement): Judged {
  const { value, limit, better, asked } = measurement;
  const ratio = limit && ratioToLimit(value, limit.value, better);
  if (!asked) return { ...measurement, ratio };
  if (asked.of === 'value') return { ...measurement, ratio, verdict: verdictOf(value, asked, better) };
  if (ratio === undefined) throw new TypeError(`"${measurement.path}" is judged by a limit it does not have.`);
  return { ...measurement, ratio, verdict: verdictOf(ratio, asked, 'higher') };
}
