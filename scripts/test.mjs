/**
 * Runs every suite: `npm test [-- <jest arguments>]`. Suites that need a program which is not installed are named at
 * the end, with the way to get it; in CI nothing may be missing.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildAll } from './build.mjs';

const root = join(import.meta.dirname, '..');
buildAll();

const scratch = mkdtempSync(join(tmpdir(), 'penstock-test-'));
const report = join(scratch, 'report.json');
const missingPrograms = join(scratch, 'missing-programs');
const outcome = spawnSync(
  process.execPath,
  [
    '--experimental-vm-modules',
    '--no-warnings',
    join(root, 'node_modules', 'jest', 'bin', 'jest.js'),
    '--json',
    `--outputFile=${report}`,
    ...process.argv.slice(2),
  ],
  {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, TZ: 'UTC', PENSTOCK_MISSING_PROGRAMS: missingPrograms },
  },
);

if (!existsSync(report)) {
  console.error('The test runner ended without a report.');
  process.exit(outcome.status || 1);
}
const { numPassedTests, numFailedTests, numFailedTestSuites, numRuntimeErrorTestSuites, numPendingTests } = JSON.parse(
  readFileSync(report, 'utf8'),
);
const missing = existsSync(missingPrograms)
  ? [...new Set(readdirSync(missingPrograms))].map((name) => ({
      name,
      how: readFileSync(join(missingPrograms, name), 'utf8'),
    }))
  : [];
rmSync(scratch, { recursive: true, force: true });

for (const { name, how } of missing)
  console.log(`Not run, because ${name} is not installed. Get it with: ${how.trim()}`);
const suitesBroken = numRuntimeErrorTestSuites > 0 ? `, ${numRuntimeErrorTestSuites} suites could not start` : '';
if (numFailedTestSuites > 0 || suitesBroken) console.log(`${numFailedTestSuites} suites failed${suitesBroken}.`);
const failed = numFailedTests + numRuntimeErrorTestSuites + (process.env.CI && missing.length > 0 ? missing.length : 0);
if (numPendingTests > 0) console.log(`${numPendingTests} tests were skipped.`);
console.log(`${numPassedTests} passed, ${failed} failed`);
process.exit(failed > 0 || numPassedTests === 0 ? 1 : (outcome.status ?? 1));
