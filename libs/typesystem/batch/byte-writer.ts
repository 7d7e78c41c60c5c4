const TEXT = new TextEncoder();
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** The digits of 00 to 99, two bytes each. */
const PAIRS = new Uint8Array(200);
for (let n = 0; n < 100; n++) {
  PAIRS[n * 2] = 48 + Math.floor(n / 10);
  PAIRS[n * 2 + 1] = 48 + (n % 10);
}

const QUOTE = 34;
const BACKSLASH = 92;

const HUNDRED_MILLION = 100_000_000;

/**
 * A growing run of UTF-8 bytes. Numbers are written digit by digit: making a string of each number first costs more
 * than everything else about storing a row. Callers reserve room before the unchecked writes.
 */
export class ByteWriter {
  bytes: Uint8Array;
  at = 0;

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity);
  }

  /** Makes room for `count` more bytes. */
  reserve(count: number): void {
    if (this.at + count <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.at + count));
    grown.set(this.bytes);
    this.bytes = grown;
  }

  /** One byte, room reserved. */
  byte(code: number): void {
    this.bytes[this.at++] = code;
  }

  /** Digits of a whole number from 0 below 2^53, room reserved. */
  whole(value: number): void {
    if (value >= HUNDRED_MILLION) {
      const high = Math.floor(value / HUNDRED_MILLION);
      this.whole(high);
      this.padded(value - high * HUNDRED_MILLION, 8);
    } else {
      this.padded(value, digitsOf(value));
    }
  }

  /** Digits of a whole number below 10^width, with zeros in front; room reserved. */
  padded(value: number, width: number): void {
    if (width > 8) {
      const high = Math.floor(value / HUNDRED_MILLION);
      this.padded(high, width - 8);
      this.padded(value - high * HUNDRED_MILLION, 8);
      return;
    }
    const { bytes } = this;
    let rest = value | 0;
    let position = this.at + width;
    this.at = position;
    for (let left = width; left >= 2; left -= 2) {
      const next = (rest / 100) | 0;
      const pair = (rest - next * 100) * 2;
      bytes[--position] = PAIRS[pair + 1]!;
      bytes[--position] = PAIRS[pair]!;
      rest = next;
    }
    if (width % 2 === 1) bytes[position - 1] = 48 + rest;
  }

  /** Text of ASCII characters only. */
  ascii(text: string): void {
    this.reserve(text.length);
    const { bytes } = this;
    let { at } = this;
    for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i);
    this.at = at;
  }

  /** Text as a JSON string token. */
  jsonString(text: string): void {
    this.reserve(text.length + 2);
    const { bytes } = this;
    let { at } = this;
    bytes[at++] = QUOTE;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code < 32 || code > 126 || code === QUOTE || code === BACKSLASH) return this.#encoded(JSON.stringify(text));
      bytes[at++] = code;
    }
    bytes[at++] = QUOTE;
    this.at = at;
  }

  /** Well-formed UTF-8 from `start` to `end` of `source` as a JSON string token; the bytes of `jsonString`. */
  jsonUtf8(source: Uint8Array, start: number, end: number): void {
    this.reserve(end - start + 2);
    const { bytes } = this;
    let { at } = this;
    bytes[at++] = QUOTE;
    for (let i = start; i < end; i++) {
      const byte = source[i]!;
      if (byte < 32 || byte === QUOTE || byte === BACKSLASH) {
        return this.#encoded(JSON.stringify(DECODER.decode(source.subarray(start, end))));
      }
      bytes[at++] = byte;
    }
    bytes[at++] = QUOTE;
    this.at = at;
  }

  #encoded(token: string): void {
    this.reserve(token.length * 3);
    this.at += TEXT.encodeInto(token, this.bytes.subarray(this.at)).written;
  }
}

function digitsOf(value: number): number {
  if (value < 10_000) return value < 100 ? (value < 10 ? 1 : 2) : value < 1_000 ? 3 : 4;
  return value < 1_000_000 ? (value < 100_000 ? 5 : 6) : value < 10_000_000 ? 7 : 8;
}
