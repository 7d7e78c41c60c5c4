import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../test/fixtures/postgres.js';

let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
}, 90_000);

afterAll(async () => {
  await test?.drop();
});

describe('values from the metadata database', () => {
  it('arrive exact: a double or a Date would round what callers hash, page by and show', async () => {
    const [row] = await test.database.query<Record<string, unknown>>(
      `SELECT '2026-01-02T03:04:05.6+02'::timestamptz AS stamp, 9007199254740993::int8 AS big,
              '{"b": 1.10, "a": 9007199254740993}'::jsonb AS json, 0.10::numeric AS dec, DATE '2026-02-28' AS day`,
    );
    expect(row).toEqual({
      stamp: '2026-01-02T01:04:05.600000Z',
      big: '9007199254740993',
      json: '{"a": 9007199254740993, "b": 1.10}',
      dec: '0.10',
      day: '2026-02-28',
    });
  });
});
