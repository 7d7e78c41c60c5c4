const LINE_FEED = 10;
/** Most results are a few rows. */
const FIRST_BYTES = 4 * 1024;

/** Row arrays of one chunk, joined by line feeds; the memory is used for one chunk after another. */
export class ChunkRows {
  #memory = new Uint8Array(0);
  #size = 0;

  /** Until the chunk is emptied. */
  get bytes(): Uint8Array {
    return this.#memory.subarray(0, this.#size);
  }

  /** Rows from `start` to `end` of `source`, a line feed between two. */
  add(source: Uint8Array, start: number, end: number): void {
    const wanted = this.#size + 1 + end - start;
    if (wanted > this.#memory.length) {
      const grown = new Uint8Array(Math.max(wanted, this.#memory.length * 2, FIRST_BYTES));
      grown.set(this.bytes);
      this.#memory = grown;
    }
    if (this.#size > 0) this.#memory[this.#size++] = LINE_FEED;
    this.#memory.set(source.subarray(start, end), this.#size);
    this.#size += end - start;
  }

  emptied(): this {
    this.#size = 0;
    return this;
  }
}
