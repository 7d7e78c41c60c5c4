/** Serves: `npm start`. Embedded unless `DATABASE_URL` (or its configuration key) is set. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { buildAll } from './build.mjs';

const root = join(import.meta.dirname, '..');
buildAll();
const server = spawn(
  process.execPath,
  ['--max-semi-space-size=16', join(root, 'dist/apps/server/main.js'), ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => server.kill(signal));
server.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
