import { describe, it, expect } from '@jest/globals';
import { toWireStamp } from './wire-stamp.js';

describe('toWireStamp', () => {
  it.each([
    ['2026-09-11T08:30:00.123999Z', '2026-09-11T08:30:00.123Z'],
    ['2026-09-11T08:30:00.999999Z', '2026-09-11T08:30:00.999Z'],
    ['2026-09-11T08:30:00Z', '2026-09-11T08:30:00.000Z'],
    ['2026-09-11T08:30:00.1Z', '2026-09-11T08:30:00.100Z'],
  ])('cuts %s to milliseconds', (stored, wire) => {
    // Rounding up would show a stamp later than the act, and events out of order.
    expect(toWireStamp(stored)).toBe(wire);
  });

  it.each(['2026-09-11 08:30:00', '2026-09-11T08:30:00+02:00', 'infinity', ''])('refuses %j', (text) => {
    expect(() => toWireStamp(text)).toThrow(TypeError);
  });
});
