import { beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createContext, runInContext, type Context } from 'node:vm';
import { root } from '../fixtures/keeper-state.js';

/** A place with what the language itself has and the two names of browsers the libraries use: nothing of Node. */
let browser: Context;

beforeAll(async () => {
  const script = join(root, 'test/fixtures/bundle-pure-libraries.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script], {
    maxBuffer: 1 << 24,
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  browser = createContext({ TextDecoder, TextEncoder });
  runInContext(`${stdout}; globalThis.libs = pureLibraries;`, browser);
});

/** What an expression over the libraries gives there, as JSON. */
const there = (expression: string): unknown =>
  JSON.parse(runInContext(`JSON.stringify((() => { ${expression} })())`, browser) as string);

describe('the libraries that the browser runs too', () => {
  it('load where nothing of Node is', () => {
    expect(there('return [typeof process, typeof Buffer, typeof require, Object.keys(libs).sort()]')).toEqual([
      ...['undefined', 'undefined', 'undefined'],
      ['ftl', 'lifecycle', 'typesystem'],
    ]);
  });

  it('render a template to bound SQL, as the server does', () => {
    const outcome = there(`
      const { template } = libs.ftl.parseTemplate("SELECT <#list ['a','b'] as c>\${c}<#sep>, </#list> FROM t WHERE d >= :day");
      const context = new Map([['day', { type: { type: 'DATE' }, value: '2026-02-28', origin: 'parameter' }]]);
      const rendered = libs.ftl.renderSql(template, { dialect: 'POSTGRES', now: '2026-08-05T14:30:00.000000Z', context });
      return { ok: rendered.ok, sql: rendered.namedSql };`);
    expect(outcome).toEqual({ ok: true, sql: 'SELECT a, b FROM t WHERE d >= :day' });
  });

  it('show a mistake at its line and column while it is typed', () => {
    expect(there('return libs.ftl.parseTemplate("SELECT 1\\n<#if x>").problems')).toMatchObject([
      { code: 'syntax_error', line: 2 },
    ]);
  });

  it('judge names, values and verbs by the rules of the server', () => {
    expect(there('return libs.lifecycle.isBrowsePrefix("shop/daily")')).toBe(true);
    expect(there('return libs.typesystem.coerceText({ type: "DATE" }, "2026-02-30").ok')).toBe(false);
    expect(there('return libs.typesystem.classifyStatement("POSTGRES", "SELECT 1; DROP TABLE t").ok')).toBe(false);
    const decided = there(
      'return libs.lifecycle.decide("release", { versions: [], currentVersion: null }, { baseHash: "x" }, { authoringEnabled: true })',
    );
    expect(decided).toMatchObject({ allowed: false });
  });
});
