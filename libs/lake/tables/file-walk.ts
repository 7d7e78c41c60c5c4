import { opendir } from 'node:fs/promises';
import { join } from 'node:path';

import { TableProblem } from './table-scan.js';

/**
 * Counts what a pattern makes the engine look at, and stops at the limit: a folder of a million entries costs neither
 * time nor memory.
 *
 * @param rest the pattern below `folder`
 */
export async function refuseCrowds(folder: string, rest: string, limit: number, signal: AbortSignal): Promise<void> {
  const depth = rest.includes('**') ? Number.POSITIVE_INFINITY : rest.split('/').length;
  const waiting: { path: string; level: number }[] = [{ path: folder, level: 1 }];
  let seen = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    for await (const entry of await opendir(next.path)) {
      signal.throwIfAborted();
      seen += 1;
      if (seen > limit)
        throw new TableProblem(
          `The location holds more than ${limit} files and folders; narrow it, or raise datapipelines.lake.max-files-per-table.`,
        );
      if (entry.isDirectory() && next.level < depth)
        waiting.push({ path: join(next.path, entry.name), level: next.level + 1 });
    }
  }
}
