import { describe, it, expect } from '@jest/globals';
import { isStamp, toWireStamp } from './wire-stamp.js';

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

describe('isStamp', () => {
  // Cursors bring stamps back from outside; what PostgreSQL cannot read must be refused before it is asked.
  it.each([
    ['2026-09-11T08:30:00.123999Z', true],
    ['2024-02-29T23:59:59Z', true],
    ['12026-01-01T00:00:00Z', true],
    ['2026-02-29T00:00:00Z', false],
    ['2026-13-01T00:00:00Z', false],
    ['2026-01-00T00:00:00Z', false],
    ['2026-01-01T24:00:00Z', false],
    ['2026-01-01T00:00:60Z', false],
    ['0000-01-01T00:00:00Z', false],
    ['999999-01-01T00:00:00Z', false],
    ['2026-01-01 00:00:00', false],
    ['infinity', false],
    ['', false],
  ])('%j: %j', (text, expected) => {
    expect(isStamp(text)).toBe(expected);
  });
});
