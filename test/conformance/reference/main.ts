import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { goldenFiles } from '../ftl/golden-rows.js';
import { findReference, renderWithReference, type Java } from './engines.js';
import { renderOurs } from './ours.js';
import { judge, report, shown, type RandomRun } from './outcome-report.js';
import { suiteOutcomes } from './suite-outcome.js';
import { randomTemplates } from './random-templates.js';

const HELP = `node test/conformance/differential.mjs [options]

Renders the golden templates of test/conformance/ftl/golden and random ones with the product's engine and with Apache
FreeMarker, and names every difference that is not written down. Without Java it says so and ends with code 0: the golden
files then stand as they are.

  --random N     how many random templates (3000)
  --seed S       which (1)
  --write        write the outcome to docs/ftl-conformance.md
  --help         this text

Ends with code 1 if a golden row or a random template differs.
`;

const DOCUMENT = join(import.meta.dirname, '..', '..', '..', 'docs', 'ftl-conformance.md');

/** The whole command; returns the exit code. */
export async function differential(args: readonly string[]): Promise<number> {
  let options: { random: string; seed: string; write: boolean; help: boolean };
  try {
    options = parseArgs({
      args: [...args],
      options: {
        random: { type: 'string', default: '3000' },
        seed: { type: 'string', default: '1' },
        write: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const java = findReference();
  if (typeof java === 'string') {
    process.stdout.write(`Not compared: ${java} The golden files stand as they are.\n`);
    return 0;
  }
  return compare(java, Number(options.random), Number(options.seed), options.write);
}

async function compare(java: Java, count: number, seed: number, write: boolean): Promise<number> {
  const files = goldenFiles();
  const golden = files.flatMap((file) => file.rows.map((row) => ({ file, row })));
  const random = count > 0 ? randomTemplates(count, seed) : [];
  const { version, outcomes } = await renderWithReference(java, [...golden.map(({ row }) => row.template), ...random]);
  const judged = golden.map(({ file, row }, i) => judge(file, row, outcomes[i]!, version));
  const wrong = judged.filter(({ verdict }) => verdict === 'WRONG');
  for (const { file, row, found } of wrong) {
    process.stdout.write(`${file}: ${JSON.stringify(row.template)}\n  FreeMarker: ${found}\n`);
  }
  const run: RandomRun = { count: random.length, seed, bothPrint: 0, bothFail: 0, different: [] };
  const different: string[] = [];
  random.forEach((template, i) => {
    const [ours, theirs] = [renderOurs(template), outcomes[golden.length + i]!];
    if (shown(ours) !== shown(theirs)) {
      different.push(template);
      process.stdout.write(`${JSON.stringify(template)}\n  here: ${told(ours)}\n  FreeMarker: ${told(theirs)}\n`);
    } else if (ours.ok) run.bothPrint++;
    else run.bothFail++;
  });
  run.different = different;
  process.stdout.write(
    `${judged.length} golden templates against Apache FreeMarker ${version}: ${wrong.length} wrong. ` +
      `${random.length} random ones: ${different.length} different.\n`,
  );
  if (write) writeFileSync(DOCUMENT, report(version, judged, run, suiteOutcomes()));
  return wrong.length + different.length === 0 ? 0 : 1;
}

function told(outcome: ReturnType<typeof renderOurs>): string {
  return outcome.ok ? JSON.stringify(outcome.text) : `refused: ${outcome.message.split('\n')[0]!.slice(0, 160)}`;
}
