import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isPenstockError } from '#libs/kernel';
import {
  DIALECTS,
  type CanonicalValue,
  type ColumnType,
  type Decimal,
  type Dialect,
  type TypedValue,
} from '../canonical-type.js';
import { bindStatement } from './bind-statement.js';

const typed = (type: ColumnType, value: CanonicalValue): TypedValue => ({ type, value });
const one = (type: ColumnType, value: CanonicalValue): Map<string, TypedValue> => new Map([['v', typed(type, value)]]);

const DECIMAL: ColumnType = { type: 'DECIMAL', precision: 6, scale: 2 };
const UNBOUNDED: ColumnType = { type: 'BIGDECIMAL' };
const FLOAT: ColumnType = { type: 'DECIMAL', precision: 15 };
const MOMENT = 1772348709000001n;

function failureOf(work: () => unknown): { code: string; reason: unknown; text: string } {
  try {
    work();
  } catch (error) {
    if (!isPenstockError(error)) throw error;
    return { code: error.code, reason: error.details.reason, text: JSON.stringify(error.toBody()) };
  }
  throw new TypeError('it was bound');
}

describe('typed placeholders', () => {
  it.each<[Dialect, ColumnType, CanonicalValue, string, unknown]>([
    ['POSTGRES', { type: 'BOOLEAN' }, true, 'CAST($1 AS boolean)', 'true'],
    ['POSTGRES', { type: 'INTEGER' }, 5, 'CAST($1 AS int4)', '5'],
    ['POSTGRES', { type: 'BIGINTEGER' }, 2n ** 53n + 1n, 'CAST($1 AS int8)', '9007199254740993'],
    ['POSTGRES', DECIMAL, { unscaled: 450n, scale: 2 }, 'CAST($1 AS numeric)', '4.50'],
    ['POSTGRES', UNBOUNDED, { unscaled: 5n, scale: 30 }, 'CAST($1 AS numeric)', `0.${'0'.repeat(29)}5`],
    ['POSTGRES', FLOAT, 0.1, 'CAST($1 AS float8)', '0.1'],
    ['POSTGRES', { type: 'DECIMAL', precision: 7 }, Math.fround(1.1), 'CAST($1 AS float8)', '1.1'],
    ['POSTGRES', { type: 'STRING' }, "'; --", 'CAST($1 AS text)', "'; --"],
    ['POSTGRES', { type: 'BINARY' }, new Uint8Array([0, 255]), 'CAST($1 AS bytea)', '\\x00ff'],
    ['POSTGRES', { type: 'DATE' }, '2026-03-01', 'CAST($1 AS date)', '2026-03-01'],
    ['POSTGRES', { type: 'TIME' }, 1, 'CAST($1 AS time)', '00:00:00.000001'],
    ['POSTGRES', { type: 'TIMESTAMP' }, MOMENT, 'CAST($1 AS timestamptz)', '2026-03-01T07:05:09.000001Z'],
    ['POSTGRES', { type: 'DATE' }, null, 'CAST($1 AS date)', null],
    ['MYSQL', { type: 'BOOLEAN' }, true, '?', 1],
    ['MYSQL', { type: 'BIGINTEGER' }, 5n, '?', 5n],
    ['MYSQL', DECIMAL, { unscaled: 450n, scale: 2 }, '?', '4.50'],
    ['MYSQL', { type: 'DATE' }, '2026-03-01', 'CAST(? AS DATE)', '2026-03-01'],
    ['MYSQL', { type: 'TIMESTAMP' }, MOMENT, 'CAST(? AS DATETIME(6))', '2026-03-01 07:05:09.000001'],
    ['SQLITE', { type: 'BOOLEAN' }, false, '?', 0n],
    ['SQLITE', { type: 'INTEGER' }, 5, '?', 5n],
    ['SQLITE', DECIMAL, { unscaled: 450n, scale: 2 }, '?', 4.5],
    ['SQLITE', UNBOUNDED, { unscaled: 1234567890123456n, scale: 2 }, '?', '12345678901234.56'],
    ['SQLITE', UNBOUNDED, { unscaled: 10n ** 20n, scale: 0 }, '?', '100000000000000000000'],
    ['SQLITE', { type: 'TIMESTAMP' }, MOMENT, '?', '2026-03-01T07:05:09.000001Z'],
    ['DUCKDB', { type: 'BIGINTEGER' }, 5n, 'CAST($1 AS BIGINT)', '5'],
    ['DUCKDB', DECIMAL, { unscaled: 450n, scale: 2 }, 'CAST($1 AS DECIMAL(6,2))', '4.50'],
    ['DUCKDB', UNBOUNDED, { unscaled: 1500n, scale: 3 }, 'CAST($1 AS DECIMAL(38,1))', '1.5'],
    [
      'DUCKDB',
      { type: 'BIGDECIMAL', precision: 60, scale: 2 },
      { unscaled: 5n, scale: 2 },
      'CAST($1 AS DECIMAL(38,2))',
      '0.05',
    ],
    ['DUCKDB', UNBOUNDED, null, 'CAST($1 AS DECIMAL(38,0))', null],
    ['DUCKDB', { type: 'BINARY' }, new Uint8Array([1]), 'CAST($1 AS BLOB)', new Uint8Array([1])],
    ['LAKE', { type: 'TIMESTAMP' }, MOMENT, 'CAST($1 AS TIMESTAMPTZ)', '2026-03-01T07:05:09.000001Z'],
    ['MSSQL', DECIMAL, { unscaled: 450n, scale: 2 }, 'CAST(@dp_1 AS decimal(38,2))', '4.50'],
    ['MSSQL', { type: 'TIMESTAMP' }, MOMENT, 'CAST(@dp_1 AS datetimeoffset(6))', '2026-03-01 07:05:09.000001 +00:00'],
    ['ORACLE', { type: 'BIGINTEGER' }, 5n, 'TO_NUMBER(:dp_1)', '5'],
    ['ORACLE', { type: 'DATE' }, '2026-03-01', "TO_DATE(:dp_1,'YYYY-MM-DD')", '2026-03-01'],
    ['H2', UNBOUNDED, { unscaled: 15n, scale: 1 }, 'CAST($1 AS NUMERIC(100000,1))', '1.5'],
  ])('%s takes %j %p as %s', (dialect, type, value, sql, sent) => {
    const bound = bindStatement(dialect, 'SELECT :v', one(type, value));
    expect(bound).toEqual({ sql: `SELECT ${sql}`, values: [sent], driverTypes: [expect.any(String)] });
  });

  it('are shared by equal names where the dialect numbers them, and repeated where it does not', () => {
    const binds = new Map([
      ['a', typed({ type: 'STRING' }, 'x')],
      ['b', typed({ type: 'STRING' }, 'y')],
    ]);
    const text = 'SELECT :b, :a, :b -- :a\n, \':c\', "d:a"';
    expect(bindStatement('POSTGRES', text, binds)).toMatchObject({
      sql: 'SELECT CAST($1 AS text), CAST($2 AS text), CAST($1 AS text) -- :a\n, \':c\', "d:a"',
      values: ['y', 'x'],
    });
    expect(bindStatement('SQLITE', text, binds)).toMatchObject({ values: ['y', 'x', 'y'] });
  });
});

describe('the guarantee', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom("'", ';--', '$$', '\\', ':x', '`', ']', "');"),
  );

  it.each(DIALECTS)('%s: the SQL is the same whatever the values, so no value can be SQL', (dialect) => {
    const types: ColumnType[] = [
      { type: 'STRING' },
      { type: 'BIGINTEGER' },
      { type: 'DECIMAL', precision: 15, scale: 4 },
      { type: 'BIGDECIMAL', precision: 30, scale: 10 },
      FLOAT,
      { type: 'BOOLEAN' },
      { type: 'BINARY' },
      { type: 'TIMESTAMP' },
      { type: 'TIME' },
    ];
    const text = types.map((_, i) => `:p${i}`).join(', ');
    const nulls = bindStatement(dialect, text, new Map(types.map((type, i) => [`p${i}`, typed(type, null)])));
    fc.assert(
      fc.property(
        fc.tuple(
          anyText,
          fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
          fc.bigInt({ min: 1n - 10n ** 15n, max: 10n ** 15n - 1n }),
          fc.bigInt({ min: 1n - 10n ** 30n, max: 10n ** 30n - 1n }),
          fc.double({ noNaN: true }),
          fc.boolean(),
          fc.uint8Array(),
          fc.bigInt({ min: -62135596800000000n, max: 253402300799999999n }),
          fc.nat({ max: 86_399_999_999 }),
        ),
        ([string, big, small, wide, double, flag, bytes, moment, time]) => {
          const values: CanonicalValue[] = [
            string,
            big,
            { unscaled: small, scale: 4 },
            { unscaled: wide, scale: 10 },
            double,
            flag,
            bytes,
            moment,
            time,
          ];
          const binds = new Map(types.map((type, i) => [`p${i}`, typed(type, values[i]!)]));
          expect(bindStatement(dialect, text, binds).sql).toBe(nulls.sql);
        },
      ),
    );
  });
});

describe('refusals before anything is sent', () => {
  const SECRET = '123456789012345678901234567890123456789.5';

  it('name every missing value at once', () => {
    const failure = failureOf(() => bindStatement('POSTGRES', ':a :b :v', one({ type: 'STRING' }, SECRET)));
    expect(failure.code).toBe('pipeline.node.sql_parameter_missing');
    expect(failure.text).toContain('"missing":["a","b"]');
    expect(failure.text).not.toContain(SECRET);
  });

  it.each<[Dialect, number]>([
    ['POSTGRES', 65_535],
    ['MYSQL', 65_535],
    ['SQLITE', 32_766],
    ['MSSQL', 2_100],
  ])('%s takes %i binds and not one more', (dialect, limit) => {
    const names = Array.from({ length: limit + 1 }, (_, i) => `p${i}`);
    const binds = new Map(names.map((name) => [name, typed({ type: 'INTEGER' }, 1)]));
    const text = (count: number): string =>
      names
        .slice(0, count)
        .map((name) => `:${name}`)
        .join(',');
    expect(bindStatement(dialect, text(limit), binds).values).toHaveLength(limit);
    expect(failureOf(() => bindStatement(dialect, text(limit + 1), binds))).toMatchObject({
      code: 'pipeline.node.query_execution_failed',
      reason: 'too_many_binds',
    });
  });

  it.each(['DUCKDB', 'LAKE', 'MSSQL', 'ORACLE'] as const)(
    '%s has no decimal of 39 digits and would round it',
    (dialect) => {
      const value = { unscaled: BigInt(SECRET.replace('.', '')), scale: 1 };
      const failure = failureOf(() => bindStatement(dialect, ':v', one(UNBOUNDED, value)));
      expect(failure).toMatchObject({ code: 'pipeline.node.query_execution_failed', reason: 'bind_overflow' });
      expect(failure.text).not.toContain(SECRET);
      const small = { unscaled: 1n, scale: 39 };
      expect(failureOf(() => bindStatement(dialect, ':v', one(UNBOUNDED, small))).reason).toBe('bind_overflow');
    },
  );

  it('MYSQL rounds beyond 65 digits and 30 behind the point without a word, so those are refused', () => {
    const reason = (value: Decimal): unknown =>
      failureOf(() => bindStatement('MYSQL', ':v', one(UNBOUNDED, value))).reason;
    expect(reason({ unscaled: 10n ** 65n, scale: 0 })).toBe('bind_overflow');
    expect(reason({ unscaled: 1n, scale: 31 })).toBe('bind_overflow');
    expect(bindStatement('MYSQL', ':v', one(UNBOUNDED, { unscaled: 10n ** 65n - 1n, scale: 30 })).values).toEqual([
      `${'9'.repeat(35)}.${'9'.repeat(30)}`,
    ]);
  });

  it.each<[ColumnType, CanonicalValue]>([
    [DECIMAL, { unscaled: 1n, scale: 3 }],
    [DECIMAL, { unscaled: 1000000n, scale: 2 }],
    [{ type: 'INTEGER' }, 2 ** 31],
    [{ type: 'INTEGER' }, 1n],
    [{ type: 'BIGINTEGER' }, 2n ** 63n],
    [{ type: 'BIGINTEGER' }, 1],
    [{ type: 'BOOLEAN' }, 'true'],
    [{ type: 'TIME' }, 86_400_000_000],
    [{ type: 'TIMESTAMP' }, 2n ** 62n],
    [{ type: 'STRING' }, 5],
    [{ type: 'NULL' }, 'x'],
  ])('a value that is none of its type is refused, never bound as NULL: %j %p', (type, value) => {
    for (const dialect of DIALECTS) {
      expect(failureOf(() => bindStatement(dialect, ':v', one(type, value))).reason).toBe('bind_overflow');
    }
  });

  it.each<[Dialect, string, string]>([
    ['POSTGRES', "SELECT ':v", 'unterminated'],
    ['POSTGRES', 'SELECT $1, :v', 'native_placeholder'],
    ['SQLITE', 'SELECT ?, :v', 'native_placeholder'],
    ['MSSQL', 'SELECT @dp_1, :v', 'native_placeholder'],
  ])('%s %j would shift or hide placeholders: %s', (dialect, sql, reason) => {
    expect(failureOf(() => bindStatement(dialect, sql, one({ type: 'INTEGER' }, 1)))).toMatchObject({
      code: 'pipeline.node.template_render_failed',
      reason,
    });
  });
});
