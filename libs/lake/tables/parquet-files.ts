import { realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';

import type { FileRoots } from '#libs/datasources';

import { fixedFolder, parseLocation, treePattern } from '../registry/location.js';
import { refuseCrowds } from './file-walk.js';
import { realInside } from './inside-roots.js';
import { openablePaths } from './openable-paths.js';
import { localSet, type JudgedBefore } from './judged-before.js';
import { judgeFooters } from './judged-footers.js';
import { hasNamedNull, partitionedScan } from './partition-values.js';
import {
  literal,
  plainPath,
  TableProblem,
  type ScanSurroundings,
  type TableResolver,
  type TableScan,
} from './table-scan.js';

const MISSING = 'There is no file or folder at the location.';

/** Parquet files of this machine, read in place: one file, a pattern, or a tree with Hive partitions. */
export class ParquetFiles implements TableResolver {
  constructor(
    private readonly roots: FileRoots,
    private readonly maxFiles: number,
    private readonly before: JudgedBefore,
  ) {}

  async resolve({ location }: { location: string }, surroundings: ScanSurroundings): Promise<TableScan> {
    const { signal, query } = surroundings;
    const parsed = parseLocation(location);
    if (typeof parsed === 'string' || parsed.scheme !== 'file')
      throw new TableProblem(`The location is no file location (${typeof parsed === 'string' ? parsed : 'scheme'}).`);
    const pattern = treePattern(parsed.path);
    const { folder, plain } = fixedFolder(pattern);
    if (plain) {
      const file = await realInside(this.roots, { path: pattern, kind: 'file' }, MISSING);
      await refusePipe(file);
      const files = literal(plainPath(file));
      const set = await localSet([file]);
      await judgeFooters({ files, first: file, set, nameOf: (path) => basename(path) }, this.before, surroundings);
      const sql = await partitionedScan({ files, sample: file, namedNull: hasNamedNull([file]) }, surroundings);
      return { sql, files, ...openablePaths([file]) };
    }
    const real = await realInside(this.roots, { path: folder, kind: 'folder' }, MISSING);
    const rest = pattern.slice(folder === '/' ? 1 : folder.length + 1);
    const { links } = await refuseCrowds(real, rest, this.maxFiles, signal);
    const inside = real === '/' ? '/' : `${real}/`;
    const files = literal(`${plainPath(inside)}${rest}`);
    // In the order of the engine's own look, which is that of the rows.
    const rows = await query(`SELECT file FROM glob(${files}) LIMIT ${this.maxFiles}`);
    const found = rows.map(([file]) => file ?? '');
    // Before the walls stand the engine would follow a link anywhere, and show the columns of what it finds there.
    if (links) await refuseLinksOut(inside, found);
    const [sample = ''] = found;
    const nameOf = (path: string): string => path.slice(inside.length);
    await judgeFooters({ files, first: sample, set: await localSet(found), nameOf }, this.before, surroundings);
    const sql = await partitionedScan({ files, sample, namedNull: hasNamedNull(found) }, surroundings);
    return { sql, files, directories: [inside], paths: [] };
  }
}

async function refuseLinksOut(inside: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    if (!(await realpath(file)).startsWith(inside))
      throw new TableProblem('A link below the location leads out of it; put the file itself there.');
  }
}

/** Opening a pipe waits for its writer, for ever and whatever the engine is told; a pattern passes them over. */
async function refusePipe(file: string): Promise<void> {
  if (!(await stat(file)).isFile()) throw new TableProblem(`"${basename(file)}" is no plain file.`);
}
