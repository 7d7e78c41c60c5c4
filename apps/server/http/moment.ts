const MOMENT =
  /^(?<year>\d{4})-\d\d-(?<day>\d\d)T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-5]):[0-5]\d)$/;

/** Whether a text is an RFC 3339 moment that the database takes, such as `2026-03-01T07:05:09Z`. */
export function isMoment(text: string): boolean {
  const { year, day } = MOMENT.exec(text)?.groups ?? {};
  // A day that its month does not have is rolled over by Date, and refused by the database.
  const rolled = new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() !== Number(day);
  return year !== undefined && year !== '0000' && !Number.isNaN(new Date(text).getTime()) && !rolled;
}
