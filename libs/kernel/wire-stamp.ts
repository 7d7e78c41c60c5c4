const DATABASE_STAMP = /^(\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/;

/**
 * A stamp of ours on the wire: RFC 3339, UTC, milliseconds (03 §2).
 *
 * @param text the database's form, `YYYY-MM-DDTHH:MM:SS[.ffffff]Z`; further digits are cut, never rounded,
 *   so that a stamp never lies after the event it names.
 */
export function toWireStamp(text: string): string {
  const match = DATABASE_STAMP.exec(text);
  if (!match) throw new TypeError('a timestamp must have the form YYYY-MM-DDTHH:MM:SS[.ffffff]Z');
  return `${match[1]}.${(match[2] ?? '').padEnd(3, '0').slice(0, 3)}Z`;
}

/**
 * Whether a text is a stamp in the database's form that names a moment: day 31 of a short month has the form and none.
 * For stamps that come back from outside, in cursors: the database would answer an impossible one with a failure.
 */
export function isStamp(text: string): boolean {
  const match = DATABASE_STAMP.exec(text);
  if (!match) return false;
  const parts = match[1]!.split(/[-T:]/).map(Number) as [number, number, number, number, number, number];
  const [year, month, day, hour, minute, second] = parts;
  const at = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  const named = [at.getUTCMonth() + 1, at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()];
  return year > 0 && named.every((part, index) => part === parts[index + 1]);
}
