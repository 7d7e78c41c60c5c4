import { expect, it } from '@jest/globals';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { scratchRoot } from '../../../test/fixtures/keeper-state.js';
import { ServerProcess } from '../../../test/fixtures/server-process.js';

it('a closed terminal ends the server like any other order to end: its database does not stay behind', async () => {
  const folder = mkdtempSync(join(scratchRoot, 'penstock-hang-up-'));
  chmodSync(folder, 0o755);
  const server = await ServerProcess.launch({ DATAPIPELINES_EMBEDDED_DIRECTORY: folder });
  try {
    expect(await server.end('SIGHUP')).toBe(0);
    expect(server.output).toContain('shutdown.drain_complete');
    expect(existsSync(join(folder, 'postgres', 'data', 'postmaster.pid'))).toBe(false);
  } finally {
    await server.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});
