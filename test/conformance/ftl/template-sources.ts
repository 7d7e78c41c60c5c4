import fc from 'fast-check';

type Source = fc.Arbitrary<string>;

/** Built-ins that make one text of another; none of them decides how many items or branches there are. */
const TEXT_TO_TEXT =
  `upper_case lower_case c_upper_case c_lower_case cap_first uncap_first capitalize trim html xhtml xml
j_string js_string json_string url url_path chop_linebreak string`.split(/\s+/);
const WITH_TEXT = `remove_beginning remove_ending ensure_starts_with ensure_ends_with keep_before keep_before_last
keep_after keep_after_last`.split(/\s+/);

/** What an expression may read: the run-time values of the property, and what the author wrote. */
const CONTEXT_TEXT = ['s', 'u', 'd', 't', 'ts', 'bytes', '.now?string("yyyy")', '.vars.s', '.data_model["u"]'];

const { text, number } = fc.letrec<Record<'text' | 'number', string>>((tie) => {
  const [t, n] = [tie('text'), tie('number')];
  const form = (strings: TemplateStringsArray, ...parts: Source[]): Source =>
    fc.tuple(...parts).map((values) => strings.reduce((all, piece, i) => all + piece + (values[i] ?? ''), ''));
  return {
    text: fc.oneof(
      { depthSize: 'small' },
      { weight: 4, arbitrary: fc.constantFrom(...CONTEXT_TEXT) },
      fc.constantFrom('"author"', '"a\\x27b"', '"\\x27"', '"-"', 'nope!s', '(nope.x)!u', 'f?string(s, u)'),
      form`(${t} + ${t})`,
      form`(${t} + ${n})`,
      form`${t}?${fc.constantFrom(...TEXT_TO_TEXT)}`,
      form`${t}?${fc.constantFrom(...WITH_TEXT)}(${t})`,
      form`${t}?replace(${t}, ${t})`,
      form`${t}?replace("(.)", "$1", "r")`,
      form`${t}?left_pad(40, ${t} + "x")`,
      form`${t}?truncate_c(9, ${t})`,
      form`[${t}, ${n}]?join(${t} + ",")`,
      form`"a \${${fc.constantFrom('s', 'u', 'd', 'bytes', 'ts', 's + u')}} #{${fc.constantFrom('n', 'm', '1')}; M2}"`,
      form`[${t}, ${t}][0]`,
      form`[${t}, ${t}]?reverse?first`,
      form`[${t}, ${t}]?map(q -> q + ${t})?last`,
      form`{"k": ${t}}.k`,
      form`{${t}: 1}?keys?first`,
      form`({"k": 1} + {"k": ${t}})["k"]`,
      form`true?then(${t}, ${t})`,
      form`1?switch(1, ${t}, ${t})`,
      form`g(${t})`,
      form`${t}?matches("[\\\\s\\\\S]*")?first`,
      form`${n}?string("0.00")`,
      form`${n}?c`,
    ),
    number: fc.oneof(
      { depthSize: 'small' },
      { weight: 3, arbitrary: fc.constantFrom('n', 'm', 'big') },
      fc.constantFrom('1', '2.50', '(0 - 3)'),
      form`(${n} ${fc.constantFrom('+', '-', '*')} ${n})`,
      form`${n}?${fc.constantFrom('abs', 'round', 'floor', 'ceiling', 'long')}`,
      form`(-${n})`,
    ),
  };
});

/** Places a value can stand in SQL, legal or not: what is refused must be refused for every value. */
const place = (value: string): Source =>
  fc.constantFrom(
    `WHERE a = ${value} `,
    `AND b = '${value}' `,
    `OR c LIKE '%${value}_' `,
    `AND d = DATE '${value}' `,
    `AND x IN (1, ${value}) `,
    `f(${value}, ${value}) `,
    `- ${value} `,
    `a -${value} `,
    `:s || ${value} `,
    `"${value}" `,
    `/* ${value} */ `,
    `-- ${value}\n`,
    `$$${value}$$ `,
    `E'${value}' `,
    `q'[ ${value}]' `,
    `[ ${value}] `,
    `\`${value}\` `,
    `ORDER BY ${value} `,
    `FROM ${value} `,
    `x${value} `,
    `${value}y `,
  );
const printed = fc.oneof(
  text.map((expr) => `\${${expr}}`),
  number.map((expr) => `\${${expr}}`),
  number.map((expr) => `#{${expr}; M2}`),
);
const value = printed.chain(place);

const { block } = fc.letrec<Record<'block', string>>((tie) => {
  const inner = tie('block');
  return {
    block: fc.oneof(
      { depthSize: 'small' },
      { weight: 4, arbitrary: value },
      fc.constantFrom(
        'SELECT a FROM t ',
        'WHERE z = :u ',
        "'it''s' ",
        '-- note\n',
        '/* n */ ',
        '"id" ',
        'GROUP BY a ',
        '(',
        ') ',
        '; ',
      ),
      fc.tuple(inner, inner).map((parts) => parts.join('')),
      fc.tuple(text, inner).map(([expr, a]) => `<#assign w = ${expr}>${a}\${w} `),
      fc.tuple(inner, inner).map(([a, b]) => `<#assign c>${a}</#assign>${b}(\${c}) `),
      fc.tuple(text, inner).map(([expr, a]) => `<@wrap ${expr}>${a}</@wrap> `),
      fc.tuple(text, text).map(([a, b]) => `<@wrap p=${a} ; y>\${y + (${b})} </@wrap>`),
      fc.tuple(text, text).map(([a, b]) => `<#list [${a}, ${b}] as i>i = \${i} <#sep>OR </#list>`),
      fc.tuple(text, text).map(([a, b]) => `x IN (\${[${a}, ${b}]?sql_list}) `),
      fc.tuple(text, inner).map(([expr, a]) => `<#attempt>${a}\${nope}<#recover>r = \${${expr}} </#attempt>`),
      inner.map((a) => `<#compress> ${a} </#compress>`),
      fc
        .tuple(fc.constantFrom('q?trim', 'q + "!"', '"-" + q', 'q?html'), inner)
        .map(([e, a]) => `<#escape q as ${e}>${a}</#escape>`),
      inner.map((a) => `<#if f>${a}</#if>`),
    ),
  };
});

const PRELUDE = '<#function g x><#return x + "."></#function><#macro wrap p>w = ${p} <#nested p></#macro>';

/** Random templates that bring run-time values to every kind of place, through every kind of way. */
export const templateSources: Source = fc
  .array(block, { minLength: 1, maxLength: 5 })
  .map((parts) => PRELUDE + parts.join(''));
