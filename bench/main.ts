import { writeSync } from 'node:fs';
import { BenchDeployment } from './deployment.js';
import { judge, type Judged } from './measurement.js';
import { readOptions, type BenchOptions } from './options.js';
import { PATHS } from './paths/index.js';
import { heading, machine, markdown } from './report.js';

const HELP = `npm run bench [-- options]

Measures the product's paths over HTTP, each beside its physical limit in the same run on the same machine: the value,
the limit, their ratio, and the verdict. One real server process, its own PostgreSQL, Redis where it is installed.
Medians of 5 runs.

  --only NAME      measure these paths only (repeatable, or separated by commas)
  --quick          3 shorter runs on less data, for a first look
  --smoke          almost nothing of everything: whether the scenarios still run
  --json           print JSON instead of a table
  --profile DIR    the server leaves its CPU profile there
  --help           this text

${PATHS.map(({ name, about }) => `  ${name.padEnd(16)} ${about}`).join('\n')}`;

/** The whole command; returns the exit code. */
export async function bench(args: readonly string[]): Promise<number> {
  let options: BenchOptions;
  try {
    options = readOptions(
      args,
      PATHS.map(({ name }) => name),
    );
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}\n`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(`${HELP}\n`);
    return 0;
  }
  const deployment = await BenchDeployment.start({ profile: options.profile });
  const interrupt = (): void => void deployment.stop().finally(() => process.exit(1));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    const about = machine(deployment.stores);
    const rows: Judged[] = [];
    let failed = 0;
    for (const path of PATHS) {
      if (options.only.length > 0 && !options.only.includes(path.name)) continue;
      process.stderr.write(`${path.name} …\n`);
      try {
        rows.push(...(await path.measure(deployment, options)).map(judge));
      } catch (error) {
        failed += 1;
        console.error(`${path.name} could not be measured:`, error);
      }
    }
    const text = options.json
      ? JSON.stringify({ machine: about, quick: options.quick, rows }, null, 2)
      : `${heading(about)}\n\n${markdown(rows)}`;
    writeSync(1, `${text}\n`);
    return failed === 0 ? 0 : 1;
  } finally {
    await deployment.stop();
  }
}
