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
