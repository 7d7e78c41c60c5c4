import { hash } from 'node:crypto';
import { randomBase32 } from './base32.js';

const ID_SYMBOLS = 12;
const SECRET_SYMBOLS = 48;
const MAX_PRESENTED = 80;
const SHAPE = /^(dpk_[A-Z2-7]{12})\.[A-Z2-7]{48}$/;
const ID = /^dpk_[A-Z2-7]{12}$/;

export interface MintedKey {
  /** Public handle, `api_keys.id`. */
  id: string;
  /** The whole key, shown once and never stored. */
  key: string;
}

/** A new key of 65 characters with a 240-bit secret (contract 04 §6.1). */
export function mintKey(): MintedKey {
  const id = `dpk_${randomBase32(ID_SYMBOLS)}`;
  return { id, key: `${id}.${randomBase32(SECRET_SYMBOLS)}` };
}

/** The id of a well-shaped key; undefined costs no I/O. */
export function keyIdOf(presented: string): string | undefined {
  return presented.length <= MAX_PRESENTED ? SHAPE.exec(presented)?.[1] : undefined;
}

export function isKeyId(text: string): boolean {
  return ID.test(text);
}

/** What a cached success is compared with; the secret has 240 bits, so a plain digest does not weaken it. */
export function digestOf(presented: string): Buffer {
  return hash('sha256', presented, 'buffer');
}
