import { parseArgs } from 'node:util';

export interface BenchOptions {
  only: readonly string[];
  json: boolean;
  help: boolean;
  /** Runs of each measurement; the median counts. */
  runs: number;
  /** Length of one run under load. */
  seconds: number;
  /** Shrinks the amounts of data. */
  quick: boolean;
  /** Almost nothing of everything: whether the scenarios still run; the figures mean nothing. */
  smoke: boolean;
  /** Where the server leaves its CPU profile. */
  profile?: string;
}

/** Throws a TypeError with a sentence for the person at the terminal. */
export function readOptions(args: readonly string[], names: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
      profile: { type: 'string' },
    },
  });
  const only = values.only.flatMap((list) => list.split(','));
  const unknown = only.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new TypeError(`Unknown: ${unknown.join(', ')}. There are: ${names.join(', ')}.`);
  const { json, help, profile, smoke } = values;
  const quick = values.quick || smoke;
  const length = smoke ? { runs: 1, seconds: 0.2 } : quick ? { runs: 3, seconds: 2 } : { runs: 5, seconds: 5 };
  return { only, json, help, quick, smoke, profile, ...length };
}

/** How much of something a measurement takes. */
export function amount({ quick, smoke }: BenchOptions, of: { full: number; quick: number; smoke: number }): number {
  return smoke ? of.smoke : quick ? of.quick : of.full;
}
