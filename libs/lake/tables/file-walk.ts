import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';

import { TableProblem } from './table-scan.js';

type WalkedEntry = Pick<Dirent, 'name' | 'isDirectory' | 'isSymbolicLink'>;

/**
 * Counts what a pattern makes the engine look at, and stops at the limit: a folder of a million entries costs neither
 * time nor memory.
 *
 * @param rest the pattern below `folder`
 * @returns whether links lie there
 */
export async function refuseCrowds(
  folder: string,
  rest: string,
  limit: number,
  signal: AbortSignal,
  entries: (path: string) => Promise<AsyncIterable<WalkedEntry>> = opendir,
): Promise<{ links: boolean }> {
  const depth = rest.includes('**') ? Number.POSITIVE_INFINITY : rest.split('/').length;
  const waiting: { path: string; level: number }[] = [{ path: folder, level: 1 }];
  let seen = 0;
  let links = false;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    for await (const entry of await entries(next.path)) {
      signal.throwIfAborted();
      seen += 1;
      if (seen > limit)
        throw new TableProblem(
          `The location holds more than ${limit} files and folders; narrow it, or raise datapipelines.lake.max-files-per-table.`,
        );
      links ||= entry.isSymbolicLink();
      if (entry.isDirectory() && next.level < depth)
        waiting.push({ path: join(next.path, entry.name), level: next.level + 1 });
    }
  }
  return { links };
}
