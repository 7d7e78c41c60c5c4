import { runCase, TIERS, type Tier } from '../ftl/suite-tiers.js';

/** The section of the document on FreeMarker's own test suite. */
export function suiteOutcomes(): string {
  return [
    "Templates of Apache FreeMarker's `templatesuite`, read from a folder beside the checkout or the one that",
    '`FREEMARKER_SUITE` names (`freemarker-jython25/src/test/resources/freemarker/test/templatesuite` of a checkout of',
    '`apache/freemarker`); nothing of them is part of the project. `test/conformance/ftl/freemarker-suite.spec.ts` runs them',
    'where they are found. Tier 2 is adapted by the rules in `suite-adaptation.ts`: lines with refused or missing constructs',
    'go, files of the suite that are included are written out, square brackets become angle ones.',
    '',
    '| tier | cases | alike | |',
    '|---|---|---|---|',
    ...TIERS.map(line),
    '',
    '| Tier 2 case | expects something else than the suite, because |',
    '|---|---|',
    ...TIERS.flatMap(({ cases }) =>
      [...cases].flatMap(([name, { because }]) => (because === undefined ? [] : [`| ${name} | ${because} |`])),
    ),
  ].join('\n');
}

function line({ name, cases, files }: Tier): string {
  if (!files) return `| ${name} | ${cases.size} | – | not run: no folder has its templates |`;
  const wrong = [...cases].filter(([one, how]) => {
    try {
      const { printed, expected } = runCase(files, one, how);
      return expected !== null && printed !== expected;
    } catch {
      // An assertion of the template itself.
      return true;
    }
  });
  return `| ${name} | ${cases.size} | ${cases.size - wrong.length} | ${wrong.map(([one]) => one).join(', ')} |`;
}
