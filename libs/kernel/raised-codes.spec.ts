import { beforeAll, describe, expect, it } from '@jest/globals';
import { catalogue } from './error-catalogue.js';
import { expectedIn, expectedTexts, productTexts, type Places } from './expected-codes.fixture.js';

const CODES = Object.keys(catalogue).filter((code) => /^(pipeline|template)\./.test(code));
/** Their specs write tables of the last words. */
const OF_FAMILY = /^libs\/(pipelines|templates|lifecycle)\//;

/** Listed by the contracts, raised nowhere: confirmations and acknowledgements, and what was renamed. */
const UNRAISED: readonly string[] = [
  'pipeline.execution.template_unrendered',
  'pipeline.validation.door_unacknowledged',
  'pipeline.validation.non_dql_caller_target',
  'pipeline.validation.table_not_learned',
  'pipeline.version.confirm_mismatch',
  'template.validation.dialect_not_allowed',
  'template.version.confirm_mismatch',
];

let expected: Places;
let product: { has(code: string): boolean };

beforeAll(() => {
  expected = expectedTexts();
  product = productTexts();
});

function isExpected(code: string): boolean {
  if (expected.has(code)) return true;
  const last = code.split('.').at(-1)!;
  return [last, `.${last}`].some((word) => [...(expected.get(word) ?? [])].some((file) => OF_FAMILY.test(file)));
}

describe('the codes of pipelines and templates', () => {
  it('are raised by the product, but for those known to wait', () => {
    expect(CODES.length).toBeGreaterThan(100);
    expect(CODES.filter((code) => !product.has(code) && !UNRAISED.includes(code))).toEqual([]);
    expect(UNRAISED.filter((code) => !CODES.includes(code))).toEqual([]);
  });

  it('are each expected by a spec, which a code in a title or in a comment is not', () => {
    expect(CODES.filter((code) => !UNRAISED.includes(code) && !isExpected(code))).toEqual([]);
  });

  it.each([
    ["it('a', () => { expect(error.code).toBe('x.y'); });", ['x.y']],
    ["const cases = [['a', 'x.y']]; it.each(cases)('%s', () => {});", ['a', 'x.y']],
    ["for (const [name, code] of [['a', 'x.y']]) { it(name, () => {}); }", ['a', 'x.y']],
    ["await refused(save(), 'x.y');", ['x.y']],
    ["it('x.y', () => { save({ code: 'x.y' }); });", []],
    ["const unread = ['x.y']; // x.y", []],
  ])('count where something judges them: %s', (source, texts) => {
    expect(expectedIn(source)).toEqual(texts);
  });
});
