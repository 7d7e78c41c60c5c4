import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { keysetItems, KeysetOrder, type KeysetPage, type SortKey } from '#libs/kernel';
import { createTestDatabase, type TestDatabase } from '../../test/fixtures/postgres.js';

interface Row {
  at: string;
  name: string;
  n: string;
}

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await db.database.execute('CREATE TABLE listed (at timestamptz, n bigint, name text, PRIMARY KEY (at, n, name))', []);
});
afterAll(() => db.drop());

const orderOf = (at: boolean, n: boolean, name: boolean) =>
  new KeysetOrder(
    { sql: 'at', kind: 'timestamptz', descending: at },
    { sql: 'n', kind: 'bigint', descending: n },
    { sql: 'name COLLATE "C"', kind: 'text', descending: name },
  );

async function read(order: KeysetOrder, page: KeysetPage) {
  const values: unknown[] = [];
  const beyond = order.beyond(page, values);
  const sql = `SELECT at, name, n FROM listed WHERE ${beyond} ${order.tail(page, values)}`;
  return keysetItems(await db.database.query<Row>(sql, values), page);
}

const place = ({ at, n, name }: Row) => KeysetOrder.place(at, n, name);

/** Every row once, page by page from either side. */
async function walked(order: KeysetOrder, side: 'forwards' | 'backwards', size: number): Promise<string[]> {
  const seen: string[] = [];
  for (let edge: string | undefined; ;) {
    const page: KeysetPage =
      side === 'forwards'
        ? { first: size, ...(edge === undefined ? {} : { after: edge }) }
        : { last: size, ...(edge === undefined ? {} : { before: edge }) };
    const { items, hasNext, hasPrevious } = await read(order, page);
    const places = items.map(place);
    if (side === 'forwards') seen.push(...places);
    else seen.unshift(...places);
    expect(side === 'forwards' ? hasPrevious : hasNext).toBe(edge !== undefined);
    if (!(side === 'forwards' ? hasNext : hasPrevious)) return seen;
    edge = place((side === 'forwards' ? items.at(-1) : items[0]) as Row);
  }
}

describe('pages by key', () => {
  it('walk every order from both sides as the database sorts it: ties, mixed directions and odd names included', async () => {
    const row = fc.record({
      n: fc.constantFrom('0', '2', '10'),
      at: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000001Z', '2020-02-29T23:59:59.999999Z'),
      name: fc
        .oneof(fc.constantFrom('', '~', 'a~b', 'ü', '🚰', "'); --"), fc.string({ maxLength: 3 }))
        .map((text) => text.replaceAll('\u0000', '')),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(row, { maxLength: 12, selector: place }),
        fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
        fc.integer({ min: 1, max: 4 }),
        async (rows, directions, size) => {
          await db.database.execute('DELETE FROM listed', []);
          await db.database.execute(
            'INSERT INTO listed SELECT * FROM unnest($1::timestamptz[], $2::bigint[], $3::text[])',
            [rows.map(({ at }) => at), rows.map(({ n }) => n), rows.map(({ name }) => name)],
          );
          const order = orderOf(...directions);
          const all = await db.database.query<Row>(`SELECT at, name, n FROM listed ${order.orderBy({})}`, []);
          const expected = all.map(place);
          expect(await walked(order, 'forwards', size)).toEqual(expected);
          expect(await walked(order, 'backwards', size)).toEqual(expected);
          const skipped = await read(order, { first: size, skip: 2 });
          expect(skipped.items.map(place)).toEqual(expected.slice(2, 2 + size));
          expect(skipped.hasNext).toBe(expected.length > 2 + size);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('give nothing for a size of none, and still tell what stands on', async () => {
    await db.database.execute('DELETE FROM listed', []);
    await db.database.execute("INSERT INTO listed VALUES ('2026-01-01Z', 1, 'a'), ('2026-01-01Z', 2, 'a')", []);
    const order = orderOf(false, false, false);
    expect(await read(order, { first: 0 })).toEqual({ items: [], hasNext: true, hasPrevious: false });
    expect(await read(order, { last: 0 })).toEqual({ items: [], hasNext: false, hasPrevious: true });
    expect((await read(order, { before: '2026-01-01T00:00:00Z~2~a' })).items).toHaveLength(1);
  });

  it.each<[SortKey['kind'], string]>([
    ['text', 'a\0b'],
    ['timestamptz', '2026-02-31T00:00:00Z'],
    ['timestamptz', '-infinity'],
    ['timestamptz', ''],
    ['uuid', '0'.repeat(36)],
    ['uuid', 'x'],
    ['bigint', '9'.repeat(19)],
    ['bigint', '-1'],
    ['bigint', '1e3'],
    ['int', '0'],
    ['int', '4294967296'],
    ['int', '1;DROP TABLE listed'],
  ])('refuse a place whose %s reads %j, before the database would fail on it', (kind, text) => {
    const refused = (order: KeysetOrder, after: string) => {
      try {
        order.beyond({ after }, []);
      } catch (error) {
        return (error as { code?: string }).code;
      }
      return 'accepted';
    };
    expect(refused(new KeysetOrder({ sql: 'k', kind }), text)).toBe('graphql.cursor_invalid');
    const pair = new KeysetOrder({ sql: 'k', kind }, { sql: 'name', kind: 'text' });
    expect(refused(pair, `${text}~name`)).toBe('graphql.cursor_invalid');
    expect(refused(pair, 'too-few')).toBe('graphql.cursor_invalid');
  });
});
