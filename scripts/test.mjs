/**
 * Runs every suite: `npm test [-- <jest arguments>]`. Suites that need a program which is not installed are named at
 * the end, with the way to get it; in CI none may be missing.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildAll } from './build.mjs';

const root = join(import.meta.dirname, '..');
const notRunFile = join(root, 'node_modules', '.cache', 'penstock', 'suites-not-run.tsv');
buildAll();
rmSync(notRunFile, { force: true });

const scratch = mkdtempSync(join(tmpdir(), 'penstock-test-'));
const report = join(scratch, 'report.json');
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
  { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, TZ: 'UTC' } },
);
if (!existsSync(report)) {
  console.error('The test runner ended without a report.');
  process.exit(outcome.status || 1);
}
const result = JSON.parse(readFileSync(report, 'utf8'));
rmSync(scratch, { recursive: true, force: true });

const notRun = existsSync(notRunFile) ? readFileSync(notRunFile, 'utf8').trim().split('\n') : [];
for (const line of notRun) {
  const [suite, program, remedy] = line.split('\t');
  console.log(`Not run: ${suite}. It needs ${program}: ${remedy}`);
}
for (const { name, status, message } of result.testResults) {
  if (status === 'failed' && result.numRuntimeErrorTestSuites > 0 && message) console.log(`Failed suite: ${name}`);
}
const missing = process.env.CI ? notRun.length : 0;
const failed = result.numFailedTests + result.numRuntimeErrorTestSuites + missing;
if (result.numPendingTests > 0) console.log(`${result.numPendingTests} tests were skipped.`);
console.log(`${result.numPassedTests} passed, ${failed} failed`);
process.exit(failed > 0 || result.numPassedTests === 0 ? 1 : 0);
