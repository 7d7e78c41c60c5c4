/**
 * Builds what the server runs: `dist/` (TypeScript by swc, nothing is type-checked here) and `dist/graphiql` (Vite).
 * A part whose sources did not change since its last build is left alone.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..');
const bin = (name) => join(root, 'node_modules', '.bin', name);

function run(command, args) {
  const outcome = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });
  if (outcome.error) {
    console.error(`${command} cannot be run (${outcome.error.code}). Install the dependencies: npm ci`);
    process.exit(1);
  }
  if (outcome.status !== 0) {
    process.stderr.write(outcome.stdout + outcome.stderr);
    process.exit(outcome.status ?? 1);
  }
}

/** A hash over names, sizes and modification times: cheap enough to look at on every start. */
function fingerprint(paths) {
  const hash = createHash('sha256');
  const visit = (path) => {
    if (!existsSync(path)) return;
    const stat = statSync(path);
    if (stat.isDirectory()) {
      for (const name of readdirSync(path).sort()) visit(join(path, name));
    } else if (!/\.(spec|fixture)\.ts$/.test(path)) {
      hash.update(`${path}:${stat.size}:${stat.mtimeMs}\n`);
    }
  };
  for (const path of paths) visit(join(root, path));
  return hash.digest('hex');
}

function part(name, inputs, outputs, build) {
  const stamp = join(root, 'dist', `.${name}`);
  const now = fingerprint(inputs);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === now) return;
  const started = Date.now();
  for (const output of outputs) rmSync(join(root, output), { recursive: true, force: true });
  build();
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(stamp, now);
  console.log(`built ${name} in ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

export function buildAll() {
  part('server', ['apps/server', 'libs', 'migrations', '.swcrc'], ['dist/apps', 'dist/libs', 'dist/migrations'], () =>
    run(bin('swc'), [
      'apps/server',
      'libs',
      'migrations',
      '-d',
      'dist',
      '--config-file',
      '.swcrc',
      '--copy-files',
      '--quiet',
      '--ignore',
      '**/*.spec.ts,**/*.fixture.ts',
    ]),
  );
  if (existsSync(join(root, 'apps', 'graphiql', 'vite.config.js'))) {
    part('graphiql', ['apps/graphiql', 'package-lock.json'], ['dist/graphiql'], () =>
      run(bin('vite'), ['build', '--config', 'apps/graphiql/vite.config.js', '--logLevel', 'error']),
    );
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) buildAll();
