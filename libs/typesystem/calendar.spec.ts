import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  MAX_DAY,
  MAX_TIMESTAMP_MICROS,
  MIN_DAY,
  MIN_TIMESTAMP_MICROS,
  civilFromDays,
  daysFromCivil,
  formatDate,
  formatTime,
  formatTimestamp,
  parseDateText,
  parseTimeText,
  parseTimestampText,
} from './calendar.js';

describe('the calendar', () => {
  it('agrees with the platform on every eleventh day from year 1 to 9999, and both ways', () => {
    for (let day = MIN_DAY; day <= MAX_DAY; day += 11) {
      const text = formatDate(day);
      const date = new Date(day * 86_400_000);
      const wanted = `${String(date.getUTCFullYear()).padStart(4, '0')}-${date.toISOString().slice(-19, -14)}`;
      if (text !== wanted || parseDateText(text) !== day) throw new TypeError(`day ${day}: ${text}, not ${wanted}`);
    }
  });

  it('knows its bounds', () => {
    expect([formatDate(MIN_DAY), formatDate(MAX_DAY)]).toEqual(['0001-01-01', '9999-12-31']);
    expect(formatTimestamp(MIN_TIMESTAMP_MICROS)).toBe('0001-01-01T00:00:00.000000Z');
    expect(formatTimestamp(MAX_TIMESTAMP_MICROS)).toBe('9999-12-31T23:59:59.999999Z');
  });

  it('turns days into dates and back beyond the years it shows, because Parquet and Postgres hold them', () => {
    fc.assert(
      fc.property(fc.integer({ min: -100_000_000, max: 100_000_000 }), (days) => {
        const { year, month, day } = civilFromDays(days);
        expect(daysFromCivil(year, month, day)).toBe(days);
      }),
    );
  });

  it('prints six digits before 1970 too, where remainders are negative', () => {
    expect(formatTimestamp(-1n)).toBe('1969-12-31T23:59:59.999999Z');
    expect(formatTimestamp(-86_400_000_000n)).toBe('1969-12-31T00:00:00.000000Z');
    expect(formatTime(0)).toBe('00:00:00.000000');
    expect(formatTime(86_399_999_999)).toBe('23:59:59.999999');
    expect(formatTime(7)).toBe('00:00:00.000007');
  });

  it('reads back every timestamp it prints', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: MIN_TIMESTAMP_MICROS, max: MAX_TIMESTAMP_MICROS }), (micros) => {
        expect(parseTimestampText(formatTimestamp(micros))).toBe(micros);
      }),
    );
  });

  it.each(['2026-02-29', '1900-02-29', '2026-00-01', '2026-13-01', '2026-01-00', '2026-04-31', '26-01-01', '2026-1-1'])(
    '%s is no day',
    (text) => expect(parseDateText(text)).toBeNull(),
  );

  it.each(['24:00:00', '23:60:00', '23:59:60', '1:00:00', '10:00', '10:00:00.', '10:00:00.1234567', '10:00:00Z'])(
    '%s is no time of day',
    (text) => expect(parseTimeText(text)).toBeNull(),
  );

  it.each([
    ['2026-03-01T07:05Z', '2026-03-01T07:05:00.000000Z'],
    ['2026-03-01T07:05:09.5+01:30', '2026-03-01T05:35:09.500000Z'],
    ['2026-03-01T00:00:00-18:00', '2026-03-01T18:00:00.000000Z'],
    ['2024-02-29T23:59:59.999999-00:01', '2024-03-01T00:00:59.999999Z'],
  ])('%s is the instant %s', (text, utc) => expect(formatTimestamp(parseTimestampText(text)!)).toBe(utc));

  it.each([
    '2026-03-01T07:05:09',
    '2026-03-01 07:05:09Z',
    '2026-03-01T07:05:09+18:01',
    '2026-03-01T07:05:09+0100',
    '2026-03-01T07:05:09+01:60',
    '2026-03-01T07Z',
    '2026-02-30T07:05:09Z',
    '2026-03-01T24:00:00Z',
    '2026-03-01T07:05:09.1234567Z',
    '2026-03-01T07:05:09z',
  ])('%s names no instant', (text) => expect(parseTimestampText(text)).toBeNull());
});
