import { createHash } from 'node:crypto';

/** A strong tag of a representation's bytes. */
export function entityTag(body: string): string {
  return `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`;
}

/** Whether an `If-None-Match` names this tag. */
export function namesTag(header: string | undefined, etag: string): boolean {
  return (header ?? '').split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
}
