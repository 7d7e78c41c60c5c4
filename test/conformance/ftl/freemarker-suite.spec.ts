import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { renderSuiteTemplate } from './suite-harness.js';

/** Apache FreeMarker's own suite, read where it lies; nothing of it is part of the project (contract 05 §16). */
const FOLDER = join(process.cwd(), '..', 'shared', 'conformance', 'freemarker');

const TIER_1 = `assignments comparisons default escapes hashliteral identifier-non-ascii iterators lastcharacter list
list[#endTN]-collectionAdapter list2 list2[#endTN]-collectionAdapter list3 list3[#endTN]-collectionAdapter list-bis
list-bis[#endTN]-collectionAdapter listhashliteral[#endTN]-ici-2.3.21 listliteral loopvariable macros-return macros2
nested newlines1 number-math-builtins precedence sequence-builtins[#endTN]-with-BeansWrapper
sequence-builtins[#endTN]-with-DefaultObjectWrapper sequence-builtins[#endTN]-with-DefaultObjectWrapper-collAdapters
sequence-builtins[#endTN]-with-SimpleObjectWrapper simplehash-char-key string-builtins-ici-2.3.20
string-builtin-coercion string-builtins2 string-builtins3 string-builtins-regexps-matches stringliteral switch-builtin
then-builtin whitespace-trim`.split(/\s+/);

interface SuiteCase {
  template: string;
  /** Null: the template asserts for itself. */
  expected: string | null;
}

function readCases(): Map<string, SuiteCase> {
  const xml = readFileSync(join(FOLDER, 'testcases.xml'), 'utf8');
  const cases = new Map<string, SuiteCase>();
  for (const [, attributes = ''] of xml.matchAll(/<testCase\s+([^>]*?)\/?>/g)) {
    const attribute = (name: string): string | undefined => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1];
    const name = attribute('name');
    if (name === undefined) continue;
    cases.set(name, {
      template: attribute('template') ?? `${name.replace(/\[#endTN\].*/, '')}.ftl`,
      expected:
        attribute('noOutput') === 'true' ? null : (attribute('expected') ?? `${name.replace('[#endTN]', '')}.txt`),
    });
  }
  return cases;
}

const unix = (text: string): string => text.replace(/\r\n?/g, '\n');
/** The suite does not care about the last line break: its files disagree with each other on it. */
const withoutEnd = (text: string): string => text.replace(/\n$/, '');
const template = (file: string): string =>
  unix(readFileSync(join(FOLDER, 'templates', file), 'utf8')).replace(/^<#--[\s\S]*?-->\n/, '');
const expected = (file: string): string =>
  unix(readFileSync(join(FOLDER, 'expected', file), 'utf8')).replace(/^\/\*[\s\S]*?\*\/\n/, '');

if (existsSync(join(FOLDER, 'testcases.xml'))) {
  describe('FreeMarker suite, Tier 1: real templates of the reference engine keep their output', () => {
    const cases = readCases();
    it.each(TIER_1)('%s', (name) => {
      const one = cases.get(name);
      expect(one).toBeDefined();
      const output = renderSuiteTemplate(template(one!.template));
      if (one!.expected !== null) expect(withoutEnd(unix(output))).toBe(withoutEnd(expected(one!.expected)));
    });
  });
} else {
  describe('FreeMarker suite, Tier 1: NOT RUN, the folder ../shared/conformance/freemarker is absent', () => {
    it('says so instead of passing silently', () => {
      process.stderr.write(`FreeMarker conformance suite not found at ${FOLDER}: Tier 1 was not run.\n`);
      expect(TIER_1.length).toBeGreaterThan(30);
    });
  });
}
