import { describe, expect, it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import type { ColumnType, LogicalType } from '../canonical-type.js';
import { coerceJson } from './coerce-json.js';
import { coerceText } from './coerce-text.js';

const token = (text: string): LosslessNumber => new LosslessNumber(text);
const type = (name: LogicalType, precision?: number, scale?: number): ColumnType => ({ type: name, precision, scale });
const exact = type('DECIMAL', 6, 2);

describe('reading a JSON value as a typed value', () => {
  it.each<[ColumnType, unknown, unknown]>([
    [type('BOOLEAN'), true, true],
    [type('INTEGER'), token('-2147483648'), -2147483648],
    [type('INTEGER'), token('-0'), 0],
    [type('INTEGER'), 5, 5],
    [type('BIGINTEGER'), '9223372036854775807', 9223372036854775807n],
    [type('BIGINTEGER'), '-9223372036854775808', -9223372036854775808n],
    [type('BIGINTEGER'), '007', 7n],
    [exact, token('4.5'), { unscaled: 450n, scale: 2 }],
    [exact, token('9999.99'), { unscaled: 999999n, scale: 2 }],
    [exact, token('1.5e1'), { unscaled: 1500n, scale: 2 }],
    [exact, token('1.500'), { unscaled: 150n, scale: 2 }],
    [exact, 0.1, { unscaled: 10n, scale: 2 }],
    [type('DECIMAL', 15), token('0.1'), 0.1],
    [type('DECIMAL', 7), token('0.1'), Math.fround(0.1)],
    [type('BIGDECIMAL'), '0.10', { unscaled: 10n, scale: 2 }],
    [type('BIGDECIMAL', undefined, 4), '-12.5', { unscaled: -125000n, scale: 4 }],
    [type('BIGDECIMAL', 38, 0), '9'.repeat(38), { unscaled: 10n ** 38n - 1n, scale: 0 }],
    [type('STRING'), "x'; DROP TABLE t --", "x'; DROP TABLE t --"],
    [type('STRING'), '', ''],
    [type('STRING'), 'a😀b', 'a😀b'],
    [type('BINARY'), '', new Uint8Array(0)],
    [type('BINARY'), 'AP8=', new Uint8Array([0, 255])],
    [type('DATE'), '0001-01-01', '0001-01-01'],
    [type('DATE'), '2024-02-29', '2024-02-29'],
    [type('TIME'), '23:59:59.999999', 86_399_999_999],
    [type('TIME'), '07:05:09.5', 25_509_500_000],
    [type('TIMESTAMP'), '1970-01-01T00:00:00.000001Z', 1n],
    [type('DATE'), null, null],
  ])('%j takes %j', (columnType, json, value) => {
    expect(coerceJson(columnType, json)).toEqual({ ok: true, value });
  });

  it.each<[ColumnType, unknown]>([
    [type('BOOLEAN'), 'true'],
    [type('BOOLEAN'), token('1')],
    [type('BOOLEAN'), 0],
    [type('INTEGER'), token('5.0')],
    [type('INTEGER'), token('5e0')],
    [type('INTEGER'), '5'],
    [type('INTEGER'), 5.5],
    [type('INTEGER'), { isLosslessNumber: true, value: '5' }],
    [type('INTEGER'), Number.NaN],
    [type('BIGINTEGER'), token('5')],
    [type('BIGINTEGER'), 5],
    [type('BIGINTEGER'), '+5'],
    [type('BIGINTEGER'), ' 5'],
    [type('BIGINTEGER'), '5.0'],
    [exact, '4.5'],
    [exact, true],
    [type('BIGDECIMAL'), token('1.5')],
    [type('BIGDECIMAL'), '1e5'],
    [type('BIGDECIMAL'), '+1'],
    [type('BIGDECIMAL'), ''],
    [type('BIGDECIMAL'), '1.'],
    [type('STRING'), token('1')],
    [type('STRING'), ['a']],
    [type('STRING'), 'a\0b'],
    [type('STRING'), 'a\ud800b'],
    [type('STRING'), '\udc00'],
    [type('BINARY'), 'AP8'],
    [type('BINARY'), 'AP-_'],
    [type('DATE'), '2026-02-29'],
    [type('DATE'), '2026-01-01T00:00:00Z'],
    [type('TIME'), '24:00:00'],
    [type('TIMESTAMP'), '2026-01-01T00:00:00'],
    [type('NULL'), 'x'],
    [type('STRING'), undefined],
    [type('STRING'), Object.create(null)],
  ])('%j refuses the form of %p', (columnType, json) => {
    expect(coerceJson(columnType, json)).toMatchObject({ ok: false, kind: 'type' });
  });

  it.each<[ColumnType, unknown]>([
    [type('INTEGER'), token('2147483648')],
    [type('INTEGER'), 1e21],
    [type('BIGINTEGER'), '9223372036854775808'],
    [type('BIGINTEGER'), '-9223372036854775809'],
    [type('BIGINTEGER'), '9'.repeat(100_000)],
    [exact, token('10000')],
    [exact, token('0.001')],
    [exact, token('1e131000')],
    [type('DECIMAL', 15), token('1e999')],
    [type('DECIMAL', 7), token('1e39')],
    [type('BIGDECIMAL'), '1'.repeat(1001)],
    [type('BIGDECIMAL', 5, 2), '1000'],
    [type('BIGDECIMAL', undefined, 2), '0.001'],
    [type('DATE'), '0000-12-31'],
    [type('TIMESTAMP'), '0001-01-01T00:00:00+00:01'],
    [type('TIMESTAMP'), '9999-12-31T23:59:59-00:01'],
  ])('%j has no room for %p, and nothing is rounded to make it fit', (columnType, json) => {
    expect(coerceJson(columnType, json)).toMatchObject({ ok: false, kind: 'constraint' });
  });

  it('never echoes a whole value or a control character: messages reach logs and other people', () => {
    const secret = `\u001b[31m${'s'.repeat(500)}`;
    for (const name of ['INTEGER', 'BIGINTEGER', 'BIGDECIMAL', 'DATE', 'TIMESTAMP', 'BINARY', 'NULL'] as const) {
      const result = coerceJson(type(name), secret);
      if (result.ok) throw new TypeError(`${name} took it`);
      expect(result.message).not.toContain('s'.repeat(64));
      expect(result.message).not.toContain('\u001b');
      expect(result.message).toContain('\\u001b');
    }
  });
});

describe('reading query text as a typed value', () => {
  it.each<[ColumnType, string, unknown]>([
    [type('BOOLEAN'), 'false', false],
    [type('INTEGER'), '-12', -12],
    [exact, '12.5', { unscaled: 1250n, scale: 2 }],
    [type('DECIMAL', 15), '12.5', 12.5],
    [type('BIGINTEGER'), '12', 12n],
    [type('BIGDECIMAL'), '12.50', { unscaled: 1250n, scale: 2 }],
    [type('STRING'), '', ''],
    [type('DATE'), '2026-03-01', '2026-03-01'],
  ])('%j takes %j', (columnType, text, value) => {
    expect(coerceText(columnType, text)).toEqual({ ok: true, value });
  });

  it.each<[ColumnType, string]>([
    [type('BOOLEAN'), 'TRUE'],
    [type('BOOLEAN'), '1'],
    [type('INTEGER'), '1.0'],
    [type('INTEGER'), ''],
    [type('INTEGER'), '0x10'],
    [exact, '1e2'],
    [exact, ' 1'],
    [type('DECIMAL', 15), 'NaN'],
    [type('DECIMAL', 15), 'Infinity'],
    [type('TIMESTAMP'), '2026-03-01T00:00:00 01:00'],
  ])('%j refuses %j: a published URL means one thing only', (columnType, text) => {
    expect(coerceText(columnType, text)).toMatchObject({ ok: false, kind: 'type' });
  });
});
