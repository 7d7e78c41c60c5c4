const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const PADDING = 61;

const SEXTET = new Int8Array(128).fill(-1);
for (let i = 0; i < 64; i++) SEXTET[ALPHABET.charCodeAt(i)] = i;

/** Padded standard base64 (RFC 4648 §4). */
export function encodeBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  const whole = bytes.length - (bytes.length % 3);
  let at = 0;
  while (at < whole) {
    const stop = Math.min(whole, at + 12_288);
    let part = '';
    for (; at < stop; at += 3) {
      const bits = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
      part += ALPHABET[bits >> 18]! + ALPHABET[(bits >> 12) & 63]! + ALPHABET[(bits >> 6) & 63]! + ALPHABET[bits & 63]!;
    }
    parts.push(part);
  }
  const left = bytes.length - whole;
  if (left > 0) {
    const bits = (bytes[whole]! << 16) | (left === 2 ? bytes[whole + 1]! << 8 : 0);
    parts.push(
      ALPHABET[bits >> 18]! + ALPHABET[(bits >> 12) & 63]! + (left === 2 ? ALPHABET[(bits >> 6) & 63]! : '=') + '=',
    );
  }
  return parts.join('');
}

/** Bytes of padded, canonical standard base64; null for URL-safe, unpadded, spaced or non-canonical text. */
export function decodeBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0) return null;
  if (text.length === 0) return new Uint8Array(0);
  const padding =
    text.charCodeAt(text.length - 1) !== PADDING ? 0 : text.charCodeAt(text.length - 2) !== PADDING ? 1 : 2;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  let written = 0;
  let bits = 0;
  const digits = text.length - padding;
  for (let i = 0; i < digits; i++) {
    const code = text.charCodeAt(i);
    const sextet = code < 128 ? SEXTET[code]! : -1;
    if (sextet < 0) return null;
    bits = ((bits << 6) | sextet) & 0xffffff;
    if (i % 4 === 3) {
      bytes[written++] = bits >> 16;
      bytes[written++] = (bits >> 8) & 255;
      bytes[written++] = bits & 255;
    }
  }
  if (padding === 1) {
    // Two bits of the last digit carry nothing; canonical text has them zero.
    if ((bits & 3) !== 0) return null;
    bytes[written++] = (bits >> 10) & 255;
    bytes[written] = (bits >> 2) & 255;
  } else if (padding === 2) {
    if ((bits & 15) !== 0) return null;
    bytes[written] = (bits >> 4) & 255;
  }
  return bytes;
}
