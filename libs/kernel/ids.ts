const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A random UUID: safe to show in a URL, it tells nothing about other rows (seed §2). */
export function newId(): string {
  return crypto.randomUUID();
}

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** An id in the form it is compared in: a UUID in lower case, whatever the caller wrote; any other text as it is. */
export function canonicalId(text: string): string {
  return isUuid(text) ? text.toLowerCase() : text;
}
