import { realpath } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';

import type { NamedFile } from './drivers/dialect-driver.js';
import { DriverFailure, errnoOf } from './drivers/driver-failure.js';

const ROOTS_KEY = 'datapipelines.datasources.file-roots';

/** What stands in the way of a file, in words; never with its path. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'The file of the datasource does not exist on this server.',
  ENOTDIR: 'The file of the datasource does not exist on this server.',
  EACCES: 'The user that this server runs as may not reach the file of the datasource.',
  EPERM: 'The user that this server runs as may not reach the file of the datasource.',
  ELOOP: 'The path of the datasource goes round in links.',
};

/** The folders whose files may be datasources (06 §2). Judged on the real path, at save and at each opening. */
export class FileRoots {
  readonly #roots: readonly string[];

  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  /** Whether a file, or the place where it will be, lies under a root. */
  async admits(file: NamedFile): Promise<boolean> {
    return await this.#isUnder(await realPlace(file.path), file);
  }

  /** The canonical path to open. A missing file, and one outside the roots, is a failed connection. */
  async openable(file: NamedFile): Promise<string> {
    let path: string;
    try {
      path = await realpath(file.path);
    } catch (error) {
      const driverCode = errnoOf(error);
      throw new DriverFailure(
        'connection',
        REASONS[driverCode ?? ''] ?? 'The file of the datasource cannot be opened.',
        {
          driverCode,
          cause: error,
        },
      );
    }
    if (await this.#isUnder(path, file)) return path;
    throw new DriverFailure('connection', `The file of the datasource lies outside ${ROOTS_KEY}; move it there.`, {
      driverCode: 'FILE_ROOT',
    });
  }

  async #isUnder(path: string, { alsoUnder }: NamedFile): Promise<boolean> {
    for (const root of alsoUnder === undefined ? this.#roots : [...this.#roots, alsoUnder]) {
      const real = await realPlace(root);
      if (path.startsWith(real.endsWith(sep) ? real : `${real}${sep}`)) return true;
    }
    return false;
  }
}

/** The real path, through the nearest folder that exists when the file itself does not. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await realPlace(parent), basename(path));
  }
}
