/**
 * The first step of every command of this repository. Runs on any Node from 18 on: it brings the dependencies,
 * among them Node 24 itself, then hands over to a script that runs on that Node.
 *
 *   node scripts/bootstrap.mjs <script> [arguments…]      runs scripts/<script>.mjs
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules', '.penstock-install');
const node24 = join(root, 'node_modules', '.bin', 'node');

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
}

function installed() {
  return existsSync(node24) && existsSync(stamp) && readFileSync(stamp, 'utf8') === lockHash();
}

function install() {
  console.log('Installing dependencies (once, about a minute) …');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const outcome = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (outcome.status !== 0) {
    console.error(
      'The dependencies could not be installed. Check the network and `npm config get registry`, then run the command again.',
    );
    process.exit(outcome.status ?? 1);
  }
  writeFileSync(stamp, lockHash());
}

const [script, ...rest] = process.argv.slice(2);
if (!script || !existsSync(join(root, 'scripts', `${script}.mjs`))) {
  console.error('Usage: node scripts/bootstrap.mjs <script> [arguments…]');
  process.exit(2);
}
if (!installed()) install();

const child = spawn(node24, [join(root, 'scripts', `${script}.mjs`), ...rest], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH}` },
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
// npm does not pass on a signal that is sent to it alone: when it is gone, what it started ends too.
const parent = process.ppid;
setInterval(() => process.ppid === parent || child.kill('SIGTERM'), 500).unref();
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
