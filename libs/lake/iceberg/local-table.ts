import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { FileRoots } from '#libs/datasources';

import { parseLocation } from '../registry/location.js';
import { realInside } from '../tables/inside-roots.js';
import { TableProblem } from '../tables/table-scan.js';
import { openablePaths } from '../tables/openable-paths.js';
import { isPinned, newestMetadata } from './newest-metadata.js';
import type { OpenableFiles, OpenTable, TableFiles } from './table-files.js';

const MIB = 1024 * 1024;

/** Opens Iceberg tables of this machine, below the file roots. */
export function localTables(roots: FileRoots): OpenTable {
  return async (location) => {
    const parsed = parseLocation(location);
    if (typeof parsed === 'string' || parsed.scheme !== 'file')
      throw new TableProblem('The location is no file location.');
    const pinned = isPinned(parsed.path);
    const folder = pinned ? dirname(dirname(parsed.path)) : parsed.path.replace(/\/+$/, '');
    const root = await realInside(roots, { path: folder, kind: 'folder' }, 'There is no folder at the location.');
    if (pinned) return new LocalTable(root, parsed.path);
    const metadata = join(root, 'metadata');
    return new LocalTable(root, join(metadata, newestMetadata(await readdir(metadata).catch(() => []))));
  };
}

class LocalTable implements TableFiles {
  constructor(
    private readonly root: string,
    readonly metadata: string,
  ) {}

  async read(address: string, mostMib: number): Promise<Uint8Array> {
    const path = await this.#inside(pathOf(address));
    const found = await stat(path);
    // A pipe would keep its reader for ever.
    if (!found.isFile()) throw new TableProblem('A metadata file is no plain file.');
    if (found.size > mostMib * MIB)
      throw new TableProblem(`A metadata file is larger than ${mostMib} MiB; expire old snapshots of the table.`);
    return await readFile(path);
  }

  async dataFiles(addresses: readonly string[]): Promise<OpenableFiles> {
    const paths: string[] = [];
    for (const address of addresses) {
      const path = await this.#inside(pathOf(address));
      if (!(await stat(path)).isFile()) throw new TableProblem('A data file is no plain file.');
      paths.push(path);
    }
    return { paths, allowed: openablePaths(paths) };
  }

  /** The real path, if it lies in the table's own folder. */
  async #inside(path: string): Promise<string> {
    const real = await realpath(path).catch(() => {
      throw new TableProblem('A file that the table names is not there.');
    });
    if (!real.startsWith(`${this.root}/`)) throw new TableProblem('The table names a file outside its own folder.');
    return real;
  }
}

function pathOf(uri: string): string {
  if (uri.startsWith('/')) return uri;
  const path = /^file:(?:\/\/)?(\/[^/].*)$/.exec(uri)?.[1];
  if (path === undefined) throw new TableProblem('The table names a file that is not on this machine.');
  return path;
}
