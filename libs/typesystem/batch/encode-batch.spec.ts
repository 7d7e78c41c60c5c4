import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CanonicalValue, Column } from '../canonical-type.js';
import { encodeWire } from '../wire/encode-wire.js';
import { WireIssues } from '../wire/wire-issues.js';
import { createBatch, getCell, setCell, setNotADecimal, setNull } from './cell.fixture.js';
import { NOT_A_DECIMAL, createVector, layoutOf, type Decimal64Vector, type DecimalTextVector } from './column-batch.js';
import { RowEncoder, encodeBatchRows } from './encode-batch.js';

const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(
    0n,
    1n,
    -1n,
    2n ** 31n,
    -(2n ** 31n),
    2n ** 32n,
    -(2n ** 32n),
    2n ** 53n,
    2n ** 53n + 1n,
    -(2n ** 53n) - 1n,
    -(2n ** 63n),
    2n ** 63n - 1n,
  ),
  fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n }),
);
const unscaled18 = fc.oneof(
  fc.bigInt({ min: 1n - 10n ** 18n, max: 10n ** 18n - 1n }),
  fc.bigInt({ min: -2000n, max: 2000n }),
);

/** One column of each layout, with values of its whole range. */
const columns: { column: Column; values: fc.Arbitrary<CanonicalValue> }[] = [
  { column: { name: 'n', type: 'NULL' }, values: fc.constant(null) },
  { column: { name: 'b', type: 'BOOLEAN' }, values: fc.boolean() },
  { column: { name: 'i', type: 'INTEGER' }, values: fc.integer() },
  { column: { name: 'l', type: 'BIGINTEGER' }, values: int64 },
  ...[0, 1, 2, 15].map((scale) => ({
    column: { name: `d${scale}`, type: 'DECIMAL' as const, precision: 15, scale },
    values: fc.bigInt({ min: 1n - 10n ** 15n, max: 10n ** 15n - 1n }).map((unscaled) => ({ unscaled, scale })),
  })),
  ...[0, 3, 16, 18].map((scale) => ({
    column: { name: `w${scale}`, type: 'BIGDECIMAL' as const, precision: 18, scale },
    values: unscaled18.map((unscaled) => ({ unscaled, scale })),
  })),
  {
    column: { name: 'h', type: 'BIGDECIMAL', precision: 38, scale: 5 },
    values: fc.bigInt().map((unscaled) => ({ unscaled, scale: 5 })),
  },
  {
    column: { name: 'u', type: 'BIGDECIMAL' },
    values: fc.tuple(fc.bigInt(), fc.nat({ max: 30 })).map(([unscaled, scale]) => ({ unscaled, scale })),
  },
  { column: { name: 'f', type: 'DECIMAL', precision: 7 }, values: fc.float().map((v) => v + 0) },
  { column: { name: 'g', type: 'DECIMAL', precision: 15 }, values: fc.double().map((v) => v + 0) },
  { column: { name: 's', type: 'STRING' }, values: fc.string({ unit: 'binary' }) },
  { column: { name: 'y', type: 'BINARY' }, values: fc.uint8Array() },
  { column: { name: 't', type: 'TIME' }, values: fc.integer({ min: -5, max: 86_400_000_005 }) },
  {
    column: { name: 'z', type: 'TIMESTAMP' },
    values: fc.oneof(int64, fc.bigInt({ min: -(10n ** 16n), max: 10n ** 16n })),
  },
];

describe('rows of a batch', () => {
  it('hold the same bytes as each value on its own: results, events and checks must agree', () => {
    const row = fc.tuple(...columns.map(({ values }) => fc.option(values)));
    fc.assert(
      fc.property(fc.array(row, { maxLength: 8 }), (rows) => {
        const batch = createBatch(
          columns.map(({ column }) => column),
          rows.length,
        );
        const expected = new WireIssues();
        const lines = rows.map((cells, r) => {
          const tokens = cells.map((value, c) => {
            setCell(batch.vectors[c]!, r, value);
            return encodeWire(columns[c]!.column, value, () => expected.add(c));
          });
          return `[${tokens.join(',')}]`;
        });
        const issues = new WireIssues();
        const schema = columns.map(({ column }) => column);
        expect(encodeBatchRows(schema, batch, issues)).toEqual(lines);
        expect(issues.warnings(schema)).toEqual(expected.warnings(schema));
      }),
      { numRuns: 1000 },
    );
  });

  it("show dates of 0001 to 9999 and count the engines' infinities", () => {
    const column: Column = { name: 'd', type: 'DATE' };
    const batch = createBatch([column], 6);
    const [vector] = batch.vectors;
    if (vector?.layout !== 'date') throw new TypeError('not a date vector');
    vector.data.set([-719162, 2932896, -719163, 2932897, 2147483647, -2147483648]);
    const issues = new WireIssues();
    expect(encodeBatchRows([column], batch, issues)).toEqual([
      '["0001-01-01"]',
      '["9999-12-31"]',
      '[null]',
      '[null]',
      '[null]',
      '[null]',
    ]);
    expect(issues.warnings([column])).toEqual([{ code: 'type_mapping.value_unrepresentable', column: 'd', count: 4 }]);
  });

  it('show a NUMERIC NaN as null and count it, in both decimal layouts', () => {
    const schema: Column[] = [
      { name: 'a', type: 'DECIMAL', precision: 10, scale: 2 },
      { name: 'b', type: 'BIGDECIMAL' },
    ];
    const batch = createBatch(schema, 1);
    for (const vector of batch.vectors) setNotADecimal(vector as Decimal64Vector | DecimalTextVector, 0);
    const issues = new WireIssues();
    expect(encodeBatchRows(schema, batch, issues)).toEqual(['[null,null]']);
    expect(issues.warnings(schema).map(({ count }) => count)).toEqual([1, 1]);
    expect(batch.vectors.map((vector) => getCell(vector, 0))).toEqual([null, null]);
  });

  it('pad text decimals to a declared scale and never cut them', () => {
    const schema: Column[] = [{ name: 'a', type: 'BIGDECIMAL', precision: 40, scale: 3 }];
    const batch = createBatch(schema, 6);
    (batch.vectors[0] as DecimalTextVector).data.splice(0, 6, '1', '-1.5', '1.23456', '.5', '-.5', 'Infinity');
    expect(encodeBatchRows(schema, batch)).toEqual([
      '["1.000"]',
      '["-1.500"]',
      '["1.23456"]',
      '["0.500"]',
      '["-0.500"]',
      '[null]',
    ]);
  });

  it('can be cut at their ends without being read, as the result store does', () => {
    const schema: Column[] = [
      { name: 's', type: 'STRING' },
      { name: 'i', type: 'INTEGER' },
    ];
    const encoder = new RowEncoder(schema);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: 'binary', maxLength: 200_000, size: 'medium' }), fc.integer())),
        (rows) => {
          const batch = createBatch(schema, rows.length);
          rows.forEach((row, r) => row.forEach((value, c) => setCell(batch.vectors[c]!, r, value)));
          const { bytes, ends } = encoder.encode(batch);
          const cut = rows.map((_, r) =>
            new TextDecoder().decode(bytes.subarray(r === 0 ? 0 : ends[r - 1]! + 1, ends[r])),
          );
          expect(cut).toEqual(rows.map((row) => JSON.stringify(row)));
          expect(bytes.length).toBe(ends.at(-1) ?? 0);
        },
      ),
    );
  });

  it('grow with a cell larger than everything before it', () => {
    const schema: Column[] = [{ name: 's', type: 'STRING' }];
    const batch = createBatch(schema, 2);
    setCell(batch.vectors[0]!, 0, 'é'.repeat(300_000));
    setCell(batch.vectors[0]!, 1, 'x'.repeat(300_000));
    expect(encodeBatchRows(schema, batch)).toEqual([`["${'é'.repeat(300_000)}"]`, `["${'x'.repeat(300_000)}"]`]);
  });

  it('refuse a batch with fewer columns than promised, which would shift every value', () => {
    const encoder = new RowEncoder([
      { name: 'a', type: 'INTEGER' },
      { name: 'b', type: 'INTEGER' },
    ]);
    expect(() => encoder.encode(createBatch([{ type: 'INTEGER' }], 1))).toThrow(
      expect.objectContaining({ code: 'internal' }),
    );
  });

  it('are empty arrays without columns', () => {
    expect(encodeBatchRows([], { rowCount: 2, vectors: [] })).toEqual(['[]', '[]']);
  });
});

describe('cells', () => {
  it('give back what was set, and NULL after it was cleared', () => {
    const cells = columns.filter(({ column }) => column.type !== 'NULL' && column.type !== 'TIME');
    for (const { column, values } of cells) {
      fc.assert(
        fc.property(values, (value) => {
          const vector = createVector(column, 2);
          setCell(vector, 1, value);
          expect(getCell(vector, 1)).toEqual(value);
          setNull(vector, 1);
          expect(getCell(vector, 1)).toBeNull();
        }),
        { numRuns: 50 },
      );
    }
  });

  it.each<[Column, CanonicalValue]>([
    [{ name: 'i', type: 'INTEGER' }, 2 ** 31],
    [{ name: 'i', type: 'INTEGER' }, 1.5],
    [{ name: 'l', type: 'BIGINTEGER' }, 2n ** 63n],
    [
      { name: 'd', type: 'DECIMAL', precision: 6, scale: 2 },
      { unscaled: 1n, scale: 3 },
    ],
    [
      { name: 'd', type: 'BIGDECIMAL', precision: 18, scale: 2 },
      { unscaled: 10n ** 19n, scale: 2 },
    ],
    [{ name: 't', type: 'DATE' }, '2026-02-30'],
    [{ name: 's', type: 'STRING' }, 1],
    [{ name: 'n', type: 'NULL' }, 'x'],
  ])('refuse a value the column cannot hold, rather than wrap it: %j %p', (column, value) => {
    expect(() => setCell(createVector(column, 1), 0, value)).toThrow(
      expect.objectContaining({ code: 'pipeline.staging.value_overflow' }),
    );
  });
});

describe('layouts', () => {
  it.each<[Column['type'], number | undefined, number | undefined, string]>([
    ['DECIMAL', 15, 2, 'decimal64'],
    ['DECIMAL', 15, undefined, 'float64'],
    ['DECIMAL', 7, undefined, 'float32'],
    ['DECIMAL', 10, undefined, 'float64'],
    ['BIGDECIMAL', 18, 0, 'decimal64'],
    ['BIGDECIMAL', 19, 0, 'decimal_text'],
    ['BIGDECIMAL', undefined, 0, 'decimal_text'],
    ['BIGDECIMAL', 10, undefined, 'decimal_text'],
  ])('%s(%p,%p) lies as %s', (type, precision, scale, layout) => {
    expect(layoutOf({ type, precision, scale })).toBe(layout);
  });

  it('leave the sentinel out of reach of any 18-digit decimal', () => {
    expect(NOT_A_DECIMAL).toBeLessThan(-(10n ** 18n));
  });
});
