import { describe, expect, it } from '@jest/globals';
import { isLibraryBody, parseTemplate } from '#libs/ftl';
import { implementedBuiltins } from '../../../libs/ftl/builtins/registry.js';
import { DANGEROUS_BUILTINS, SUPPORTED_BUILTINS } from '../../../libs/ftl/syntax/builtin-names.js';
import { LineMap } from '../../../libs/ftl/syntax/line-map.js';
import { TemplateParser } from '../../../libs/ftl/syntax/template-parser.js';
import { renderSql } from '#libs/ftl';
import { parsed, printed, problemsOf } from './rendering.js';

const DANGEROUS: [string, string][] = [
  ['${"1"?eval}', '?eval'],
  ['${"1"?evalJson}', '?eval_json'],
  ['<#if "x"?interpret>a</#if>', '?interpret'],
  ['<#assign a = "java.lang.Runtime"?new()>', '?new'],
  ['${x?api.class}', '?api'],
  ['${x?has_api}', '?has_api'],
  ['${"a ${"b"?eval} c"}'.replace('"b"', "'b'"), '?eval'],
  ['<#macro m a="x"?eval></#macro>', '?eval'],
  ['${[1]?map(q -> q?eval)}', '?eval'],
  ['<@m a="x"?eval/>', '?eval'],
  ['<#list xs?eval as x></#list>', '?eval'],
  ['<#switch 1><#case "x"?eval></#switch>', '?eval'],
  ['<#escape q as q?eval>${a}</#escape>', '?eval'],
  ['<#import "/a" as a>', '#import'],
  ['a<#include "/etc/passwd">', '#include'],
  ['<#visit x>', '#visit'],
  ['<#recurse>', '#recurse'],
  ['<#fallback>', '#fallback'],
  ['<#transform x>a</#transform>', '#transform'],
  ['<#call m>', '#call'],
  ['a <#ftl encoding="x">', '#ftl'],
  ['  <#ftl>', '#ftl'],
  ['${.get_optional_template("x")}', '.get_optional_template'],
  ['[#if x]', '[#'],
  ["SELECT '[=x]'", '[='],
  ['${"freemarker.template.utility.Execute"}', 'freemarker.template.utility'],
  ['a\uE000b', 'bind marker character'],
  ['${"\\xE000"}', 'bind marker character'],
];

const SYNTAX: [string, string, number, number][] = [
  ['<#foo>', 'Unknown directive', 1, 1],
  ['a\n<#if x>', 'Unclosed #if', 2, 8],
  ['<#if x></#list>', 'Unclosed #if', 1, 8],
  ['</#if>', 'Unexpected </#if>', 1, 1],
  ['<#else>', 'Unexpected <#else>', 1, 1],
  ['<#local a = 1>', 'outside a macro', 1, 1],
  ['<#macro m><#macro n></#macro></#macro>', 'inside a macro', 1, 11],
  ['<#macro m><#function n></#function></#macro>', 'inside a macro', 1, 11],
  ['<#switch 1><#default>a<#default>b</#switch>', 'Two <#default>', 1, 23],
  ['<#switch 1><#case 1>a<#on 2>b</#switch>', '<#case> and <#on>', 1, 22],
  ['<#switch 1>x<#case 1></#switch>', 'before the first <#case>', 1, 12],
  ['<#break>', 'outside a loop', 1, 1],
  ['<#list xs as x><#macro m><#break></#macro></#list>', 'outside a loop', 1, 26],
  ['<#continue>', 'outside a loop', 1, 1],
  ['<#list xs></#list>', 'needs "as"', 1, 1],
  ['<#items as x></#items>', 'outside a <#list>', 1, 1],
  ['<#sep>', 'outside a loop', 1, 1],
  ['<#nested>', 'outside a macro', 1, 1],
  ['<#return>', 'outside a macro', 1, 1],
  ['<#function f><#return></#function>', 'needs a value', 1, 14],
  ['<#macro m><#return 1></#macro>', 'takes no value', 1, 11],
  ['<#attempt>a</#attempt>', 'Unclosed #attempt', 1, 12],
  ['<#-- x', 'Unclosed comment', 1, 1],
  ['<#noparse>x', 'Unclosed <#noparse>', 1, 1],
  ['${"abc}', 'Unclosed string', 1, 3],
  ['${1 +}', 'Unexpected "}"', 1, 6],
  ['${}', 'Unexpected "}"', 1, 3],
  ['${1 2}', 'Expected "}"', 1, 5],
  ['${(1}', 'Expected ")"', 1, 5],
  ['${a.}', 'Expected a name', 1, 5],
  ['${1 < 2 < 3}', 'Expected "}"', 1, 9],
  ['${x?iso_utc}', 'not supported', 1, 5],
  ['${x?sql_choice}', 'needs the listed literals', 1, 5],
  ['${x?sql_choice(y)}', 'must be string literals', 1, 16],
  ['${x?sql_list("a" + "b")}', 'must be string literals', 1, 14],
  ['${.nope}', 'Unknown special variable', 1, 3],
  ['${"\\q"}', 'Unknown escape', 1, 4],
  ['<@m a=1 2/>', 'Positional and named', 1, 9],
  ['<@m>x</@n>', 'another macro', 1, 6],
  ['<@m>x', 'Unclosed macro call', 1, 6],
  ['<#assign x>', 'Unclosed #assign', 1, 12],
  ['<#macro m a a></#macro>', 'Two parameters', 1, 13],
  ['${x -> x}', 'Expected "}"', 1, 5],
];

describe('refused constructs (contract 05 §4.7)', () => {
  it.each(DANGEROUS)('%s is dangerous: %s', (template, construct) => {
    const problems = problemsOf(template);
    expect(problems.map(({ code, details }) => [code, details['construct']])).toContainEqual([
      'dangerous_construct',
      construct,
    ]);
  });

  it.each([
    '?eval in text',
    '<#-- ${"x"?eval} -->a',
    '<#noparse>${"x"?eval}<#include "x"></#noparse>',
    'freemarker.template.utility',
    'a [1] #',
  ])('text and comments never trigger it: %s', (template) => {
    expect(problemsOf(template)).toEqual([]);
  });

  it('has no implementation of a refused built-in, should the scan be bypassed', () => {
    expect(implementedBuiltins).toEqual(SUPPORTED_BUILTINS);
    for (const name of DANGEROUS_BUILTINS) expect(implementedBuiltins.has(name)).toBe(false);
    for (const source of ['${"1"?eval}', '<#include "x">', '${.get_optional_template}', '<#import "x" as y>']) {
      const root = new TemplateParser(source, 200).template();
      const template = { source, root, lines: new LineMap(source), macros: [] };
      const outcome = renderSql(template, { dialect: 'POSTGRES', context: new Map(), now: '2026-01-01T00:00:00Z' });
      expect(outcome).toMatchObject({ ok: false, problem: { kind: 'render_error' } });
    }
  });

  it('reports HTML entities of the text, not those that are operators in tags', () => {
    const problems = problemsOf('<#if 1 &lt; 2 &amp;&amp; true>a &lt; b\nc = &#39;x&quot;</#if>');
    expect(problems.map(({ code, line, details }) => [code, line, details['entity']])).toEqual([
      ['html_entity', 1, '&lt;'],
      ['html_entity', 2, '&#39;'],
      ['html_entity', 2, '&quot;'],
    ]);
  });

  it('collects all defects of a save, in the order of §8', () => {
    const problems = problemsOf('a &gt; b ${"x"?eval} <#include "y"> ${"z"?new()}');
    expect(problems.map(({ code, details }) => [code, details['construct']])).toEqual([
      ['html_entity', undefined],
      ['dangerous_construct', '?eval'],
      ['dangerous_construct', '#include'],
      ['dangerous_construct', '?new'],
    ]);
  });
});

describe('syntax errors stand where the author must look', () => {
  it.each(SYNTAX)('%j: %s at %d:%d', (template, message, line, column) => {
    const [problem] = problemsOf(template);
    expect(problem).toMatchObject({ code: 'syntax_error', line, column, message: expect.stringContaining(message) });
  });

  it('tells a built-in that the language has and this engine has not from one that nobody has', () => {
    for (const spelling of ['iso_utc', 'isoUtc']) {
      expect(problemsOf(`\${x?${spelling}}`)[0]!.details).toEqual({ builtin: spelling, unsupported: true });
    }
    const [unknown] = problemsOf('${x?no_such_thing}');
    expect(unknown!.details).toMatchObject({ builtin: 'no_such_thing', known: expect.arrayContaining(['trim']) });
    expect(unknown!.details).not.toHaveProperty('unsupported');
  });

  it.each(['a <#> b', 'a <# b', '$ # { }', '{x}', 'a $b', '</ #if>', "data #> '{a}'", 'x <-> y'])(
    '%s is plain text',
    (template) => {
      expect(printed(template)).toBe(template);
    },
  );

  it.each(['a\u0000b', 'a\uD800b', '\uDC00'])('refuses text no database takes: %j', (template) => {
    expect(problemsOf(template)[0]).toMatchObject({ code: 'syntax_error' });
  });

  it('refuses a body over the length before it parses', () => {
    expect(problemsOf('${"'.padEnd(20, 'x'), { maxBodyChars: 10 })[0]!.details).toEqual({
      body_chars: 20,
      max_body_chars: 10,
    });
  });
});

describe('depth is bounded by max-nesting, never by the JavaScript stack', () => {
  const deep = 100_000;
  it.each([
    ['parentheses', `\${${'('.repeat(deep)}1${')'.repeat(deep)}}`],
    ['sequences', `\${${'['.repeat(deep)}`],
    ['unary', `\${${'!'.repeat(deep)}x}`],
    ['minus', `\${${'- '.repeat(deep)}1}`],
    ['postfix', `\${x${'.a'.repeat(deep)}}`],
    ['built-ins', `\${x${'?trim'.repeat(deep)}}`],
    ['defaults', `\${${'x!'.repeat(deep)}1}`],
    ['tags', '<#if x>'.repeat(deep)],
    ['strings', `\${${'"${'.repeat(1000)}`],
    ['escape', '<#escape x as x>'.repeat(deep)],
    ['calls', '<@m>'.repeat(deep)],
    ['hashes', `\${${'{"a":'.repeat(deep)}`],
  ])('%s', (_name, template) => {
    const outcome = parseTemplate(template, { limits: { maxBodyChars: 10_000_000 } });
    expect(outcome).toMatchObject({ ok: false, problems: [{ code: 'syntax_error' }] });
  });

  it('a long chain of operators is no depth', () => {
    expect(printed(`\${${Array.from({ length: 5000 }, () => '1').join(' + ')}}`)).toBe('5000');
    expect(printed(`<#if ${Array.from({ length: 5000 }, () => 'true').join(' && ')}>y</#if>`)).toBe('y');
  });
});

describe('library bodies', () => {
  it('are macros, functions, comments and blanks only', () => {
    expect(isLibraryBody(parsed('<#-- c -->\n<#macro m></#macro>\n<#function f><#return 1></#function>'))).toBe(true);
    expect(isLibraryBody(parsed('<#-- nothing -->'))).toBe(false);
    expect(isLibraryBody(parsed('<#macro m></#macro>SELECT 1'))).toBe(false);
    expect(isLibraryBody(parsed('<#macro m></#macro>${x}'))).toBe(false);
  });
});
