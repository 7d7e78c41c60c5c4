import { mkdtempSync, chmodSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServerProcess } from '../../test/fixtures/server-process.js';
import { repeat } from '../load/repeat.js';
import { median } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

export const start: BenchPath = {
  name: 'start',
  about: 'start of the embedded server on an existing folder, until it listens',
  async measure(_deployment, options) {
    const directory = mkdtempSync(join(tmpdir(), 'penstock-bench-start-'));
    chmodSync(directory, 0o755);
    try {
      // The run that warms up makes the folder.
      const seconds = await repeat(options.runs, async () => {
        const begun = performance.now();
        const server = await ServerProcess.launch({ DATAPIPELINES_EMBEDDED_DIRECTORY: directory });
        const elapsed = (performance.now() - begun) / 1000;
        await server.end();
        return elapsed;
      });
      return [
        {
          path: 'start, embedded, warm',
          unit: 's',
          better: 'lower',
          value: median(seconds),
          asked: { of: 'value', good: 4, great: 2 },
          note: 'with its own PostgreSQL, beside the idle one of the bench',
        },
      ];
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
};
