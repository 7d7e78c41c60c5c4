import { describe, expect, it } from '@jest/globals';
import { renderOurs } from '../reference/ours.js';
import { goldenFiles } from './golden-rows.js';
import { printed } from './rendering.js';
import { SHARED_CONTEXT } from './shared-context.js';

/** What the reference engine prints for the same rows: `node test/conformance/differential.mjs`, docs/ftl-conformance.md. */
describe.each(goldenFiles())('golden templates keep their output: $name', ({ rows }) => {
  it.each(rows)('$template', ({ template, printed: expected, fails }) => {
    const outcome = renderOurs(template);
    if (outcome.ok) expect({ printed: outcome.text }).toEqual({ printed: expected });
    else expect({ fails: `${outcome.line}:${outcome.column} ${outcome.message}` }).toEqual({ fails });
  });
});

describe('golden rows are sound', () => {
  const rows = goldenFiles().flatMap((file) => file.rows);

  it('each has one outcome, and a reason where it differs from the reference engine', () => {
    for (const row of rows) {
      expect([row.template, (row.printed === undefined) !== (row.fails === undefined)]).toEqual([row.template, true]);
      expect([row.template, row.reference === undefined]).toEqual([row.template, row.why === undefined]);
    }
    expect(rows.length).toBeGreaterThan(1000);
  });

  it('each stands once', () => {
    const templates = rows.map(({ template }) => template);
    expect(templates.filter((one, i) => templates.indexOf(one) !== i)).toEqual([]);
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
    ['finds the last match among characters of two units', '${"😀a😀b"?keep_before_last("😀")}', '😀a'],
    ['ends when the first character is the last match', '${"😀😀"?keep_after_last("[😀]", "r")}', ''],
    ['ends when the last match is empty, or within such a character', '${"😀x"?keep_after_last("x?", "r")}', ''],
    ['refuses Java-only patterns', '${"a"?matches("a++")}', expect.stringMatching(/possessive/)],
  ])('%s', (_why, template, expected) => {
    expect(printed(template, SHARED_CONTEXT)).toEqual(expected);
  });
});
