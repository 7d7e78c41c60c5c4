import { describe, expect, it } from '@jest/globals';
import { interpolatedParameters } from '#libs/ftl';
import { parsed } from './rendering.js';

const names = { parameters: new Set(['region', 'd0']), calculators: new Set(['calc']) };
const scan = (template: string): string[] =>
  interpolatedParameters(parsed(template), names).map(
    ({ parameter, reason, line, column }) => `${parameter} ${reason} ${line}:${column}`,
  );

describe('interpolated parameters (contract 05 §5.2)', () => {
  it.each([
    ['FROM ${region}', ['region direct 1:8']],
    ["WHERE r = '${region}'", ['region direct 1:14']],
    ['a\n${region?upper_case} #{d0}', ['region direct 2:3', 'd0 direct 2:24']],
    ['${x!region}', ['region direct 1:5']],
    ['<#assign a = "x ${region}">', ['region direct 1:19']],
    ['<@m a="${d0}"/>', ['d0 direct 1:10']],
    ['${.data_model.region}${.vars["d0"]}', ['region direct 1:3', 'd0 direct 1:24']],
    ['${calc}', ['calc direct 1:3']],
    ['<#if calc gt 1>a<#elseif calc lt 0>b</#if>', ['calc guarded_condition 1:6', 'calc guarded_condition 1:26']],
    ['<#switch calc><#case 1>a</#switch>', ['calc guarded_condition 1:10']],
    ['<#macro m a=1>${region}${a}</#macro>', ['region direct 1:17']],
    ['<#list xs as region>${region}<#else>${region}</#list>', ['region direct 1:39']],
    ['<#escape q as q?html>${region}</#escape>', ['region direct 1:24']],
  ])('%s is found', (template, found) => {
    expect(scan(template)).toEqual(found);
  });

  it.each([
    'WHERE r = :region',
    '<#if region == "x">a</#if>',
    '<#assign t = region>${t}',
    '${region?sql_identifier("a")} ${region?sql_choice("a")} ${[region]?sql_list}',
    '<#macro m region>${region}</#macro>',
    '<#list xs as region>${region}${region_index}</#list>',
    '<#list h as k, region>${region}</#list>',
    '<@m ; region>${region}</@m>',
    '${xs?map(region -> region + 1)?join(",")}',
    '<#noparse>${region}</#noparse><#-- ${region} -->',
  ])('%s is fine', (template) => {
    expect(scan(template)).toEqual([]);
  });

  it('looks into the whole import closure, once per library', () => {
    const leaf = { template: parsed('<#macro a>${region}</#macro>'), imports: new Map() };
    const middle = { template: parsed('<#macro b></#macro>'), imports: new Map([['leaf', leaf]]) };
    const found = interpolatedParameters(
      parsed('x'),
      names,
      new Map([
        ['m', middle],
        ['l', leaf],
      ]),
    );
    expect(found).toEqual([{ parameter: 'region', reason: 'direct', line: 1, column: 13, library: 'l' }]);
  });
});
