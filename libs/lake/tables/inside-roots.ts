import { realpath } from 'node:fs/promises';

import type { FileRoots } from '#libs/datasources';

import { TableProblem } from './table-scan.js';

/** The location lies where this server reads nothing, whatever is there or is not. */
export class OutsideRoots extends TableProblem {
  constructor() {
    super('The location lies outside the folders this server may read (datasources.file-roots).');
  }
}

/**
 * The real path of a table's file or folder below the file roots (06 §10).
 *
 * @param missing what is told when nothing is there
 * @throws {@link OutsideRoots} alike for what exists out there and what does not; {@link TableProblem} when it is missing
 */
export async function realInside(
  roots: FileRoots,
  { path, kind }: { path: string; kind: 'file' | 'folder' },
  missing: string,
): Promise<string> {
  // A folder may be a root itself: what would lie in it is judged.
  const judged = (place: string): string => (kind === 'file' ? place : `${place}/x`);
  // Before anything is looked for: the answer would tell which paths exist on this machine.
  if (!(await roots.admits({ path: judged(path) }))) throw new OutsideRoots();
  const real = await realpath(path).catch(() => {
    throw new TableProblem(missing);
  });
  // And the very path that is opened: a link may have been turned meanwhile.
  if (!(await roots.admits({ path: judged(real) }))) throw new OutsideRoots();
  return real;
}
