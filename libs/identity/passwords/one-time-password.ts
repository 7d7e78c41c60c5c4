import { randomBase32 } from '../keys/base32.js';

/** `XXXX-XXXX-XXXX`: 60 bits, for a person to type once (contract 04 §4.1). */
export function oneTimePassword(): string {
  return [randomBase32(4), randomBase32(4), randomBase32(4)].join('-');
}
