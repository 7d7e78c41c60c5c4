import fc from 'fast-check';

type Source = fc.Arbitrary<string>;

/**
 * Random templates of constructs both engines must read alike. Left out: what the product decides otherwise
 * (docs/ftl-conformance.md), such as quotients and the order of punctuation.
 */
export function randomTemplates(count: number, seed: number): string[] {
  return fc.sample(template, { numRuns: count, seed });
}

const name = fc.constantFrom('v', 'i', 'b', 'x', 'xs', 'h', 'nope', 'q', 'w');
const literal = fc.constantFrom('"a"', '"Ab c"', '""', '"x-y-x"', "'é'", '"a,b"', '" t "', '"12"', '"true"', '"${v}!"');
const digits = fc.constantFrom('0', '1', '2', '3', '1.50', '0.5', '12', '1000', '2.25', '(-1)', '(-2.50)');

const { text, truth, list, any } = fc.letrec<Record<'text' | 'number' | 'truth' | 'list' | 'any', string>>((tie) => {
  const [t, n, c, l] = [tie('text'), tie('number'), tie('truth'), tie('list')];
  const form = (strings: TemplateStringsArray, ...parts: Source[]): Source =>
    fc.tuple(...parts).map((values) => strings.reduce((all, piece, k) => all + piece + (values[k] ?? ''), ''));
  const change = fc.constantFrom(
    'upper_case',
    'lower_case',
    'cap_first',
    'uncap_first',
    'capitalize',
    'trim',
    'html',
    'xml',
    'j_string',
    'js_string',
    'json_string',
    'chop_linebreak',
    'url',
    'string',
  );
  const inner = fc.constantFrom(
    'replace',
    'remove_ending',
    'keep_before',
    'keep_after',
    'keep_before_last',
    'ensure_ends_with',
  );
  return {
    text: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      literal,
      fc.constantFrom('v', 'xs[0]', 'xs[5]!"d"', 'nope!"d"', 'h?keys[1]', 'nope!', '(nope.a)!v'),
      form`(${t} + ${t})`,
      form`(${t} + ${n})`,
      form`${t}?${change}`,
      form`${t}?${inner.filter((one) => one !== 'replace')}(${t})`,
      form`${t}?replace(${t}, ${t})`,
      form`${t}?left_pad(${n}, "*")`,
      form`${t}[${n}..*${n}]`,
      form`${t}?substring(${n})`,
      form`${l}?join(${t})`,
      form`${l}?map(q -> q + ${literal})?join(${t})`,
      form`${l}?filter(q -> q != ${t})?join(${t})`,
      form`${c}?then(${t}, ${t})`,
      form`${c}?string("y", "n")`,
      form`${n}?c`,
      form`${n}?string("${fc.constantFrom('0', '0.00', '#,##0.#', '000', '#.##', '0%')}")`,
      form`(${t})!${t}`,
    ),
    number: fc.oneof(
      { depthSize: 'small' },
      digits,
      fc.constantFrom('i', 'b', 'h.a', 'xs?size', 'nope!7'),
      form`(${n} ${fc.constantFrom('+', '-', '*', '%')} ${n})`,
      form`${t}?length`,
      form`${t}?index_of(${t})`,
      form`${t}?last_index_of(${t})`,
      form`${n}?${fc.constantFrom('abs', 'round', 'floor', 'ceiling', 'int', 'long')}`,
      form`${l}?size`,
      form`${c}?then(${n}, ${n})`,
    ),
    truth: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('true', 'false', 'x', 'nope??', 'v??'),
      form`(${n} ${fc.constantFrom('==', '!=', 'lt', 'lte', 'gt', 'gte', '<')} ${n})`,
      form`(${t} ${fc.constantFrom('==', '!=')} ${t})`,
      form`(${c} ${fc.constantFrom('&&', '||')} ${c})`,
      form`(!${c})`,
      form`${t}?${fc.constantFrom('contains', 'starts_with', 'ends_with')}(${t})`,
      form`${t}?has_content`,
      form`${l}?seq_contains(${t})`,
      form`${name}??`,
    ),
    list: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('xs', '[]', '["b", "a", "C"]', 'h?keys'),
      form`[${t}, ${t}]`,
      form`(${l} + ${l})`,
      form`${l}?reverse`,
      form`${fc.constantFrom('xs', 'h?keys', '["b", "a", "C", "B"]', '[3, 1.50, 2]')}?sort`,
      form`${l}[${n}..]`,
      form`${t}?split(${t})`,
      form`${t}?word_list`,
    ),
    any: fc.oneof(t, n, form`${c}?c`, form`${l}?join(",")`),
  };
});

const blank = fc.constantFrom(
  '',
  ' ',
  '\n',
  '  \n',
  '\n  ',
  'a',
  'b\n',
  '<#t>',
  '<#lt>',
  '<#rt>',
  '<#-- c -->',
  '\r\n',
);
const { block } = fc.letrec<Record<'block', string>>((tie) => {
  const body = tie('block');
  const spaced = fc.tuple(blank, body, blank).map((parts) => parts.join(''));
  return {
    block: fc.oneof(
      { depthSize: 'small' },
      blank,
      any.map((expr) => `\${${expr}}`),
      fc.tuple(spaced, spaced).map((parts) => parts.join('')),
      fc.tuple(truth, spaced, spaced).map(([test, a, b]) => `<#if ${test}>${a}<#else>${b}</#if>`),
      fc.tuple(list, spaced, blank).map(([source, a, b]) => `<#list ${source} as q>${a}\${q}${b}<#sep>,</#list>`),
      fc
        .tuple(list, spaced)
        .map(([source, a]) => `<#list ${source} as w>${a}<#if w?is_last>!</#if><#else>none</#list>`),
      fc.tuple(any, spaced).map(([value, a]) => `<#assign q = ${value}>${a}\${q}`),
      spaced.map((a) => `<#assign w>${a}</#assign>[\${w}]`),
      fc
        .tuple(text, spaced, spaced)
        .map(([test, a, b]) => `<#switch ${test}><#case "a">${a}<#break><#default>${b}</#switch>`),
      fc.tuple(spaced, spaced).map(([a, b]) => `<#attempt>${a}\${nope}<#recover>${b}</#attempt>`),
      spaced.map((a) => `<#compress>${a}</#compress>`),
    ),
  };
});
/** The reference engine trims one more line for every further trim tag of a line, and a blank end behind one. */
const trimsTwice = (source: string): boolean =>
  (source.match(/<#r?t>/g)?.length ?? 0) > 1 || /<#[lr]?t>\s*$/.test(source);
const template = fc
  .array(block, { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(''))
  .filter((source) => !trimsTwice(source));
