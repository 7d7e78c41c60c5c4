import { randomUUID } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A random UUID: safe to show in a URL, it tells nothing about other rows (seed §2). */
export function newId(): string {
  return randomUUID();
}

export function isUuid(text: string): boolean {
  return UUID.test(text);
}
