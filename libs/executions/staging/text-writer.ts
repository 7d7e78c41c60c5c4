import duckdb from '@duckdb/node-bindings';
import { MAX_BATCH_ROWS, type BinaryVector, type StringVector, type Utf8Vector } from '#libs/typesystem';

/** A text of the engine: its length in 4 bytes, then up to 12 bytes inline, or 4 of a prefix and the address of all. */
const ENTRY_BYTES = 16;
const ENTRY_WORDS = 4;
const INLINE_BYTES = 12;
const TWO_TO_32 = 4_294_967_296;
/** Offsets are 32 bits wide. */
const MAX_BYTES = 2 ** 31 - 1;

/** Used within one call: the engine copies it. */
const entries = new ArrayBuffer(MAX_BATCH_ROWS * ENTRY_BYTES);
const entryBytes = new Uint8Array(entries);
const entryWords = new Int32Array(entries);

/** Texts side by side as UTF-8, each row's ending where `ends` says. */
interface Texts {
  bytes: Uint8Array;
  ends: Int32Array;
}

/**
 * Gives a text column its values. All texts enter the engine by one call, as one long text that the vector keeps; each
 * row's entry then points into it. One call a text costs several times as much.
 */
export function writeTexts(target: duckdb.Vector, source: Utf8Vector | StringVector, rows: number): void {
  write(target, source.layout === 'utf8' ? source.data : encoded(source, rows), rows);
}

/** The same for a column of bytes, which the engine keeps alike. */
export function writeBytes(target: duckdb.Vector, { data, nulls }: BinaryVector, rows: number): void {
  const ends = new Int32Array(rows);
  const values: Uint8Array[] = [];
  let at = 0;
  for (let row = 0; row < rows; row++) {
    if (!nulls[row]) {
      values.push(data[row]!);
      at += data[row]!.length;
      if (at > MAX_BYTES) throw new RangeError('the bytes of one column in one batch take more than 2 GiB');
    }
    ends[row] = at;
  }
  write(target, { bytes: Buffer.concat(values, at), ends }, rows);
}

/** Gives every row the empty text: nothing is left of what the vector held before. */
export function writeNothing(target: duckdb.Vector, rows: number): void {
  entryWords.fill(0, 0, rows * ENTRY_WORDS);
  duckdb.copy_data_to_vector(target, 0, entries, 0, rows * ENTRY_BYTES);
}

function write(vector: duckdb.Vector, { bytes, ends }: Texts, rows: number): void {
  const address = rows === 0 ? 0 : kept(vector, bytes, ends[rows - 1]!);
  let start = 0;
  for (let row = 0; row < rows; row++) {
    const end = ends[row]!;
    const length = end - start;
    const word = row * ENTRY_WORDS;
    entryWords[word] = length;
    if (length > INLINE_BYTES) {
      entryWords[word + 1] =
        bytes[start]! | (bytes[start + 1]! << 8) | (bytes[start + 2]! << 16) | (bytes[start + 3]! << 24);
      // An address is below 2^48, exact as a double.
      const at = address + start;
      entryWords[word + 2] = at;
      entryWords[word + 3] = Math.floor(at / TWO_TO_32);
    } else {
      // The engine compares inline texts with their padding, so that has to be zeros.
      entryWords[word + 1] = 0;
      entryWords[word + 2] = 0;
      entryWords[word + 3] = 0;
      const inline = row * ENTRY_BYTES + 4;
      for (let i = 0; i < length; i++) entryBytes[inline + i] = bytes[start + i]!;
    }
    start = end;
  }
  duckdb.copy_data_to_vector(vector, 0, entries, 0, rows * ENTRY_BYTES);
}

/**
 * Lets the vector keep `size` bytes and tells where; texts that are all inline need no keeping. The engine says nothing
 * when it takes them for ill-formed and keeps none: entries that point nowhere would end the process.
 */
function kept(vector: duckdb.Vector, bytes: Uint8Array, size: number): number {
  if (size <= INLINE_BYTES) return 0;
  duckdb.vector_assign_string_element_len(vector, 0, bytes.subarray(0, size));
  const { buffer, byteOffset } = duckdb.vector_get_data(vector, ENTRY_BYTES);
  const entry = new DataView(buffer, byteOffset, ENTRY_BYTES);
  if (entry.getUint32(0, true) !== size) throw new RangeError('a batch holds well-formed UTF-8 only');
  return Number(entry.getBigUint64(8, true));
}

/** A code unit of a string takes at most so many bytes. */
const UNIT_BYTES = 3;

function encoded({ data, nulls }: StringVector, rows: number): Texts {
  const ends = new Int32Array(rows);
  let bytes = Buffer.allocUnsafe(64 * 1024);
  let at = 0;
  for (let row = 0; row < rows; row++) {
    if (!nulls[row]) {
      const text = data[row]!;
      const most = at + text.length * UNIT_BYTES;
      if (most > bytes.length) {
        const grown = Buffer.allocUnsafe(Math.max(bytes.length * 2, most));
        bytes.copy(grown, 0, 0, at);
        bytes = grown;
      }
      at += bytes.write(text, at);
    }
    ends[row] = at;
  }
  return { bytes, ends };
}
