import { randomBytes } from 'node:crypto';

/** RFC 4648: letters and the digits that no letter resembles. 32 symbols, so five bits of a byte are unbiased. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** `length` random symbols of `[A-Z2-7]`, five bits each. */
export function randomBase32(length: number): string {
  return Array.from(randomBytes(length), (byte) => ALPHABET[byte & 31]).join('');
}
