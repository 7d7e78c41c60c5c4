const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });
const FIRST_BYTES = 16 * 1024;
/** Offsets are 32 bits wide; one that wrapped would point an engine anywhere. */
const MAX_BYTES = 2 ** 31 - 1;
/** Below this many bytes a loop copies faster than a call that copies. */
const SHORT = 24;

/**
 * Texts of a column side by side as well-formed UTF-8: as a source sends them, the engine stores them and the wire
 * wants them, without a string for each. Rows come in order; one that is NULL takes no bytes.
 */
export class Utf8Texts {
  bytes: Uint8Array;
  /** Offset behind each row's text. */
  readonly ends: Int32Array;
  #at = 0;

  /** Room for `rows` texts and, at first, for `capacity` bytes. */
  constructor(rows: number, capacity: number = FIRST_BYTES) {
    this.ends = new Int32Array(rows);
    this.bytes = new Uint8Array(capacity);
  }

  /** Bytes of all rows so far. */
  get size(): number {
    return this.#at;
  }

  startOf(row: number): number {
    return row === 0 ? 0 : this.ends[row - 1]!;
  }

  /** The next row's text: `length` bytes of `source` from `start`. */
  put(row: number, source: Uint8Array, start: number, length: number): void {
    this.append(source, start, length);
    this.ends[row] = this.#at;
  }

  /** Bytes of one row or of several, whose `ends` the caller sets; where they begin. */
  append(source: Uint8Array, start: number, length: number): number {
    const from = this.#at;
    this.reserve(length);
    const { bytes } = this;
    if (length <= SHORT) for (let i = 0; i < length; i++) bytes[from + i] = source[start + i]!;
    else bytes.set(source.subarray(start, start + length), from);
    this.#at = from + length;
    return from;
  }

  /** The next row is NULL. */
  skip(row: number): void {
    this.ends[row] = this.#at;
  }

  /** Forgets the texts from `row` on. */
  rewind(row: number): void {
    this.#at = this.startOf(row);
  }

  /** Makes room for `count` more bytes. @throws RangeError beyond 2 GiB in one batch */
  reserve(count: number): void {
    const wanted = this.#at + count;
    if (wanted <= this.bytes.length) return;
    if (wanted > MAX_BYTES) throw new RangeError('the texts of one column in one batch take more than 2 GiB');
    const grown = new Uint8Array(Math.min(Math.max(this.bytes.length * 2, wanted), MAX_BYTES));
    grown.set(this.bytes.subarray(0, this.#at));
    this.bytes = grown;
  }

  text(row: number): string {
    return DECODER.decode(this.bytes.subarray(this.startOf(row), this.ends[row]));
  }
}
