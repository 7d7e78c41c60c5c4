import type { JsonValue } from '#libs/kernel/pure';
import type { TypedValue } from '#libs/typesystem';
import { CalculatorRefusal, RESULT, type Calculator } from '../calculator.js';
import { sameScalar } from '../scalars.js';

const outputs = [{ name: RESULT, type: 'ANY' }] as const;
const NOTHING: TypedValue = { type: { type: 'STRING' }, value: null };
const DIFFERENT_LENGTHS = '"from" and "to" must have the same number of items';

/** One value out of several, of whatever type it has (contract 01 §7.3). */
export const choices: readonly Calculator[] = [
  {
    kind: 'coalesce',
    about: 'The first value that is not null; null when all are.',
    phrases: ['first value that is set', 'fallback value', 'default when missing'],
    inputs: [{ name: 'values', type: 'ANY', list: true, about: 'Candidates in order.' }],
    outputs,
    examples: [{ inputs: { values: [null, 'b', 'c'] }, outputs: { [RESULT]: 'b' } }],
    compute: (given) => {
      const values = given.list('values');
      return { [RESULT]: values.find(({ value }) => value !== null) ?? values[0] ?? NOTHING };
    },
  },
  {
    kind: 'if_null',
    about: 'The value, or the default when it is null.',
    phrases: ['default for a null', 'if empty use'],
    inputs: [
      { name: 'value', type: 'ANY', about: 'The value.' },
      { name: 'default', type: 'ANY', about: 'What stands in for a null.' },
    ],
    outputs,
    examples: [{ inputs: { value: 7, default: 0 }, outputs: { [RESULT]: 7 } }],
    compute: (given) => {
      const value = given.any('value');
      return { [RESULT]: value === undefined || value.value === null ? (given.any('default') ?? NOTHING) : value };
    },
  },
  {
    kind: 'map',
    about:
      'The item of `to` at the place where `from` holds the value; else the default, and null without one. Numbers are compared by value: 1 equals 1.0.',
    phrases: ['translate a code', 'look up a label', 'case when'],
    inputs: [
      { name: 'value', type: 'ANY', about: 'What is looked for.' },
      { name: 'from', type: 'ANY', list: true, about: 'Known values.' },
      { name: 'to', type: 'ANY', list: true, about: 'Their results, as many as `from` has.' },
      { name: 'default', type: 'ANY', optional: true, about: 'Result for any other value.' },
    ],
    outputs,
    examples: [
      { inputs: { value: 'D', from: ['D', 'F'], to: ['Germany', 'France'] }, outputs: { [RESULT]: 'Germany' } },
      { inputs: { value: 1, from: [1.0], to: ['one'], default: 'many' }, outputs: { [RESULT]: 'one' } },
    ],
    jointDefect: (inputs) =>
      itemCount(inputs.get('from')) === itemCount(inputs.get('to'))
        ? undefined
        : { input: 'to', message: DIFFERENT_LENGTHS },
    compute: (given) => {
      const from = given.list('from');
      const to = given.list('to');
      if (from.length !== to.length) throw new CalculatorRefusal('to', 'length', DIFFERENT_LENGTHS);
      const value = given.any('value') ?? NOTHING;
      const place = from.findIndex((item) => sameScalar(item, value));
      return { [RESULT]: to[place] ?? given.any('default') ?? NOTHING };
    },
  },
];

function itemCount(list: JsonValue | undefined): number {
  return Array.isArray(list) ? list.length : 1;
}
