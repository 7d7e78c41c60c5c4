import { UTC, type Zone } from '../dates/zone.js';

/** Formats `<#setting>` can change within one render (contract 05 §4.2). */
export interface Settings {
  /** `plain` is ours: digits at own scale. */
  numberFormat: string;
  /** Words for true and false. */
  booleanFormat: readonly [string, string];
  dateFormat: string;
  timeFormat: string;
  datetimeFormat: string;
  zone: Zone;
}

export function defaultSettings(): Settings {
  return {
    numberFormat: 'plain',
    booleanFormat: ['true', 'false'],
    dateFormat: 'iso',
    timeFormat: 'iso',
    datetimeFormat: 'iso',
    zone: UTC,
  };
}
