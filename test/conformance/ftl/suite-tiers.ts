import { adaptedExpectation, adaptedTemplate, type Adaptation } from './suite-adaptation.js';
import { SuiteFiles, unix, withoutEnd } from './suite-cases.js';
import { renderSuiteTemplate } from './suite-harness.js';
import { TIER_2 } from './suite-tier-2.js';

/** Cases that run as they stand (contract 05 §16). */
const TIER_1 = `assignments comparisons default escapes hashliteral identifier-non-ascii iterators lastcharacter list
list[#endTN]-collectionAdapter list2 list2[#endTN]-collectionAdapter list3 list3[#endTN]-collectionAdapter list-bis
list-bis[#endTN]-collectionAdapter listhashliteral[#endTN]-ici-2.3.21 listliteral loopvariable macros-return macros2
nested newlines1 number-math-builtins precedence sequence-builtins[#endTN]-with-BeansWrapper
sequence-builtins[#endTN]-with-DefaultObjectWrapper sequence-builtins[#endTN]-with-DefaultObjectWrapper-collAdapters
sequence-builtins[#endTN]-with-SimpleObjectWrapper simplehash-char-key string-builtins-ici-2.3.20
string-builtin-coercion string-builtins2 string-builtins3 string-builtins-regexps-matches stringliteral switch-builtin
then-builtin whitespace-trim`.split(/\s+/);

export interface Tier {
  name: string;
  /** Names as in `testcases.xml`, with what each needs. */
  cases: ReadonlyMap<string, Adaptation>;
  /** Undefined: no folder at hand has them. */
  files: SuiteFiles | undefined;
}

export const TIERS: readonly Tier[] = [
  tier('Tier 1, as it stands', new Map(TIER_1.map((name) => [name, {}]))),
  tier('Tier 2, adapted', TIER_2),
];

function tier(name: string, cases: ReadonlyMap<string, Adaptation>): Tier {
  return { name, cases, files: SuiteFiles.with([...cases.keys()]) };
}

/** What a case prints and what it should, null where the template asserts for itself. Throws where an assertion fails. */
export function runCase(
  files: SuiteFiles,
  name: string,
  how: Adaptation,
): { printed: string; expected: string | null } {
  const one = files.cases.get(name)!;
  const template = adaptedTemplate(files.template(one.template), how, (file) => files.included(file));
  const printed = withoutEnd(unix(renderSuiteTemplate(template, how.data)));
  if (one.expected === null) return { printed, expected: null };
  return { printed, expected: withoutEnd(adaptedExpectation(files.expected(one.expected), how)) };
}
