import { Instant, LocalDateTime, ZonedDateTime, ZoneId, ZoneRulesProvider } from '@js-joda/core';
import '@js-joda/timezone';
import { isShowableTimestamp } from '#libs/typesystem';
import { CalculatorRefusal, RESULT, type Calculator } from '../calculator.js';

const MICROS = 1_000_000n;

/** IANA names alone: an offset such as `+02:00` is a moment's, not a place's. */
const zones: ReadonlySet<string> = new Set(ZoneRulesProvider.getAvailableZoneIds());

const zoneDefect = (value: unknown) =>
  typeof value === 'string' && zones.has(value) ? undefined : 'the IANA name of a time zone, such as Europe/Berlin';

export const timeZoneShift: Calculator = {
  kind: 'tz_shift',
  about:
    'Keeps the face of the clock and changes the zone: what the clock in `from_zone` showed at that moment, taken as the time in `to_zone`. A time that the clocks skip moves forward; one they show twice is the earlier.',
  phrases: ['same local time in another zone', 'local midnight in UTC', 'shift a time zone'],
  inputs: [
    { name: 'timestamp', type: 'TIMESTAMP', about: 'The moment.' },
    { name: 'from_zone', type: 'STRING', defect: zoneDefect, about: 'Whose clock is read.' },
    { name: 'to_zone', type: 'STRING', defect: zoneDefect, about: 'Where that clock time is meant.' },
  ],
  outputs: [{ name: RESULT, type: 'TIMESTAMP' }],
  examples: [
    {
      inputs: { timestamp: '2026-06-01T00:00:00Z', from_zone: 'UTC', to_zone: 'Europe/Berlin' },
      outputs: { [RESULT]: '2026-05-31T22:00:00.000000Z' },
    },
  ],
  compute: (given) => {
    const micros = given.timestamp('timestamp');
    const fraction = ((micros % MICROS) + MICROS) % MICROS;
    const instant = Instant.ofEpochSecond(Number((micros - fraction) / MICROS));
    const face = LocalDateTime.ofInstant(instant, ZoneId.of(given.text('from_zone')));
    const shifted = ZonedDateTime.of(face, ZoneId.of(given.text('to_zone')));
    const value = BigInt(shifted.toEpochSecond()) * MICROS + fraction;
    if (!isShowableTimestamp(value)) {
      throw new CalculatorRefusal(undefined, 'range', 'the result is outside the years 0001 to 9999');
    }
    return { [RESULT]: { type: { type: 'TIMESTAMP' }, value } };
  },
};
