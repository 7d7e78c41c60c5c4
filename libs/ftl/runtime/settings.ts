/** Formats `<#setting>` can change within one render (contract 05 §4.2). */
export interface Settings {
  /** `plain` is ours: digits at own scale. */
  numberFormat: string;
  dateFormat: string;
  timeFormat: string;
  datetimeFormat: string;
  /** Offset from UTC in minutes. */
  zoneMinutes: number;
}

export function defaultSettings(): Settings {
  return { numberFormat: 'plain', dateFormat: 'iso', timeFormat: 'iso', datetimeFormat: 'iso', zoneMinutes: 0 };
}

/** `UTC`, `GMT`, `Z`, `GMT+02:00`, `+02:00` as minutes; null for a zone this subset does not know. */
export function parseZone(text: string): number | null {
  const match = /^(?:UTC|GMT|Z)?(?:([+-])(\d{1,2}):?(\d{2})?)?$/.exec(text);
  if (!match || text === '') return null;
  const minutes = Number(match[2] ?? 0) * 60 + Number(match[3] ?? 0);
  if (minutes > 18 * 60 || Number(match[3] ?? 0) > 59) return null;
  return match[1] === '-' ? -minutes : minutes;
}
