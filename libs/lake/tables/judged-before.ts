import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';

/** Most sets of files that are remembered; the ones found longest ago go first. */
const MOST_SETS = 1000;
const AT_ONCE = 64;

/**
 * Sets of files whose footers were judged and are alike. An engine is built anew whenever a table of its lake comes or
 * goes, and opening a thousand files each time takes longer than most queries; whether they changed is told by their
 * sizes and times. What is wrong with files is never remembered.
 */
export class JudgedBefore {
  readonly #sets = new Set<string>();

  has(set: string): boolean {
    return this.#sets.has(set);
  }

  remember(set: string): void {
    this.#sets.delete(set);
    this.#sets.add(set);
    if (this.#sets.size <= MOST_SETS) return;
    for (const oldest of this.#sets) {
      this.#sets.delete(oldest);
      return;
    }
  }
}

/** Files of this machine as they are now, in their order. */
export async function localSet(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (let from = 0; from < files.length; from += AT_ONCE) {
    const some = files.slice(from, from + AT_ONCE);
    const found = await Promise.all(some.map((file) => stat(file, { bigint: true })));
    for (const [index, { size, mtimeNs, ctimeNs, ino }] of found.entries())
      hash.update(`${some[index]}\0${size} ${mtimeNs} ${ctimeNs} ${ino}\0`);
  }
  return hash.digest('hex');
}

/** Copies whose paths name their content. */
export function namedSet(paths: readonly string[]): string {
  return createHash('sha256').update(paths.join('\0')).digest('hex');
}
