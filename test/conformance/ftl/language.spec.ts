import { describe, expect, it } from '@jest/globals';
import { DIRECTIVES } from './directive-cases.js';
import { EXPRESSIONS } from './expression-cases.js';
import { bool, decimal, int, printed, text, type TestContext } from './rendering.js';

const context: TestContext = {
  x: bool(true),
  v: text('V'),
  i: int(1000),
  b: decimal(1250n, 2),
  xs: { origin: 'parameter', items: [text('p'), text('q'), text('r')] },
  h: {
    origin: 'parameter',
    fields: new Map([
      ['b', int(1)],
      ['a', int(2)],
    ]),
  },
};

describe('the language prints what the reference engine prints', () => {
  it.each(EXPRESSIONS)('%j', (template, expected) => {
    expect(printed(template, context)).toBe(expected);
  });

  it.each(DIRECTIVES)('%j', (template, expected) => {
    expect(printed(template, context)).toBe(expected);
  });
});

/** Where the product decides otherwise than the reference engine (contract 05 §4.5). */
describe('deliberate differences, and refusals that keep a mistake from passing', () => {
  it.each([
    ['keeps the scale of a literal', '${1.50} ${b}', '1.50 12.50'],
    ['keeps the scale through arithmetic', '${b + 1} ${b * 2} ${b - 12.5}', '13.50 25.00 0.00'],
    ['divides without a tail of zeros', '${1 / 2} ${10 / 4} ${1 / 3}', '0.5 2.5 0.333333333333'],
    ['multiplies to at most 12 fraction digits', '${0.0000001 * 0.0000001}', '0.000000000000'],
    ['reads ISO dates without a pattern', '${"2026-03-01"?date} ${"10:11:12"?time.iso}', '2026-03-01 10:11:12'],
    ['refuses ?c of a string', '${"a"?c}', expect.stringMatching(/^FAILED render_error .*Expected a number/)],
    ['refuses to divide by zero', '${1 / 0}', expect.stringMatching(/Division by zero/)],
    ['lists a hash by two names only', '<#list h as k>${k}</#list>', expect.stringMatching(/two loop variables/)],
    ['lists a sequence by one name only', '<#list xs as k, w>${k}</#list>', expect.stringMatching(/one loop variable/)],
    ['refuses Java-only patterns', '${"a"?matches("a++")}', expect.stringMatching(/possessive/)],
  ])('%s', (_why, template, expected) => {
    expect(printed(template, context)).toEqual(expected);
  });
});
