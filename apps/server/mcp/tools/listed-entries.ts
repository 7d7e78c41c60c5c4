/**
 * A list that may hold less than there is. A model takes a bare list for all there is, so the answer says what it leaves
 * out (09 §3: a limit is never silent).
 */
export class ListedEntries {
  constructor(
    readonly entries: readonly unknown[],
    readonly total: number,
    /** How to see what is left out, as the end of a sentence. */
    readonly narrower: string,
  ) {}

  get isCut(): boolean {
    return this.entries.length < this.total;
  }

  /** For the reader of the list; undefined when nothing is left out. */
  get note(): string | undefined {
    if (!this.isCut) return undefined;
    return `These are ${this.entries.length} of ${this.total} entries, not all. To see others, ${this.narrower}.`;
  }
}
