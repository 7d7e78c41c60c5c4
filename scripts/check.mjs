/** Typecheck, lint, layers and formatting: `npm run check`. Runs all four and reports each. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const bin = (name) => join(root, 'node_modules', '.bin', name);
const steps = [
  ['types', 'tsc', ['--noEmit', '-p', 'tsconfig.json']],
  ['lint', 'eslint', ['.', '--max-warnings', '0']],
  ['layers', 'depcruise', ['apps', 'libs', '--config', '.dependency-cruiser.cjs', '--output-type', 'err']],
  ['formatting', 'prettier', ['--check', '--log-level', 'warn', '.']],
];

let failed = 0;
for (const [name, program, args] of steps) {
  const started = Date.now();
  const outcome = spawnSync(bin(program), args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '--max-old-space-size=6144' },
  });
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  const ok = outcome.status === 0;
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`);
  if (!ok) {
    failed++;
    process.stdout.write(`${outcome.stdout}${outcome.stderr}\n`);
  }
}
process.exit(failed === 0 ? 0 : 1);
