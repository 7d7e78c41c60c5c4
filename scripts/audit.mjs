/**
 * Known vulnerabilities of what is installed for production: `npm run audit`.
 *
 * Ends with 0 when the registry knows none of level high or critical, 1 when it does, and 2 when the registry at hand
 * offers no advisories: then nothing was checked, which is not the same as nothing being wrong.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const outcome = spawnSync(npm, ['audit', '--json', '--omit=dev'], {
  cwd: join(import.meta.dirname, '..'),
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});

let report;
try {
  report = JSON.parse(outcome.stdout);
} catch (error) {
  report = { message: outcome.stderr?.trim() || String(outcome.error ?? error) };
}

const counts = report.metadata?.vulnerabilities;
if (!counts) {
  console.log(`Not checked: the registry at hand offers no advisories (${report.message ?? 'no report'}).`);
  console.log('Run `npm run audit` where npm reaches a registry that has them.');
  process.exit(2);
}

for (const { name, severity, range, fixAvailable } of Object.values(report.vulnerabilities ?? {})) {
  const fix = fixAvailable
    ? fixAvailable.version
      ? `fixed by ${fixAvailable.name} ${fixAvailable.version}`
      : 'a fix is available'
    : 'no fix yet';
  console.log(`${severity.padEnd(9)} ${name} ${range} (${fix})`);
}
const serious = counts.high + counts.critical;
console.log(`${counts.total} known vulnerabilities, ${serious} of them high or critical.`);
process.exit(serious > 0 ? 1 : 0);
