import { isExactNumber, RawJson, readJson, type JsonValue } from '#libs/kernel';

/** `JSON.rawJSON` of the runtime: a number that the runtime's own writer puts out digit by digit. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => object };

/**
 * A value as the protocol's library can write it, which knows nothing of our numbers: exact ones keep their digits,
 * stored JSON text is opened, undefined members are left out.
 */
export function writable(value: unknown): unknown {
  if (typeof value === 'bigint') return rawJSON(value.toString());
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(writable);
  if (isExactNumber(value)) return rawJSON(value.toString());
  if (value instanceof RawJson) return writable(readJson(value.text));
  const members: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) members.push([key, writable(member)]);
  }
  return Object.fromEntries(members);
}

/**
 * A read value with its numbers as doubles, for judging shapes and for the protocol's own members. Objects keep having
 * no prototype.
 */
export function plain(value: JsonValue): unknown {
  if (isExactNumber(value)) return Number(value.toString());
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [key, member] of Object.entries(value)) copy[key] = plain(member);
  return copy;
}
