/** The bill of materials of a release, CycloneDX JSON: `npm run sbom` prints it, `npm run sbom -- FILE` writes it. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const outcome = spawnSync(npm, ['sbom', '--sbom-format=cyclonedx', '--omit=dev', '--package-lock-only'], {
  cwd: join(import.meta.dirname, '..'),
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});
if (outcome.status !== 0) {
  console.error(`The bill of materials could not be made: ${outcome.stderr || outcome.error}`);
  process.exit(1);
}
const [file] = process.argv.slice(2);
if (file === undefined) process.stdout.write(outcome.stdout);
else writeFileSync(file, outcome.stdout);
