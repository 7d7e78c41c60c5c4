import { createHash } from 'node:crypto';

/** How persisted operations are known: SHA-256 of the document's UTF-8, in lower-case hex. */
export function sha256Of(document: string): string {
  return createHash('sha256').update(document).digest('hex');
}

export function isSha256(text: unknown): text is string {
  return typeof text === 'string' && /^[0-9a-f]{64}$/.test(text);
}
