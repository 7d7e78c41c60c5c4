const RFC_3339 =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)[Tt](?<time>(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?)(?<zone>[Zz]|[+-](?:0\d|1[0-5]):[0-5]\d)$/;

/**
 * A moment as callers write one, RFC 3339 such as `2026-03-01T07:05:09Z` or `2026-03-01T08:05+01:00`, in the form the
 * database takes. Undefined for what names no moment: a day that its month does not have, hour 24, the year 0.
 */
export function momentOf(text: string): string | undefined {
  const { year, month, day, time, zone } = RFC_3339.exec(text)?.groups ?? {};
  if (year === undefined || year === '0000' || month === undefined || day === undefined) return undefined;
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  // Date rolls 30 February over to March; the database refuses it.
  if (Number.isNaN(date.getTime()) || date.getUTCDate() !== Number(day)) return undefined;
  return `${year}-${month}-${day}T${time}${zone?.toUpperCase()}`;
}
