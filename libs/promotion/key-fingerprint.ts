import { createHash } from 'node:crypto';

/** What the audit trail keeps of a server key: the SHA-256 of the whole, in hexadecimal digits. */
export function keyFingerprint(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
