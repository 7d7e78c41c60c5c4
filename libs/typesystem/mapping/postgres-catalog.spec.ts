import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createEmptyDatabase, type EmptyDatabase } from '../../../test/fixtures/postgres.js';
import { mapPostgresType } from './postgres-type.js';

let database: EmptyDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createEmptyDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
}, 90_000);

afterAll(async () => {
  await client?.end();
  await database?.drop();
});

/** The columns of a query as the server describes them. */
async function describeColumns(sql: string): Promise<pg.FieldDef[]> {
  return (await client.query(sql)).fields;
}

describe('type numbers against a real catalog', () => {
  it('names every base type of ours rightly: a wrong number would turn dates into text for ever', async () => {
    const textual = [
      'char',
      'name',
      'text',
      'bpchar',
      'varchar',
      'uuid',
      'json',
      'jsonb',
      'jsonpath',
      'xml',
      'interval',
      'bit',
      'varbit',
      'inet',
      'cidr',
      'macaddr',
      'macaddr8',
      'point',
      'lseg',
      'path',
      'box',
      'polygon',
      'line',
      'circle',
      'tsvector',
      'tsquery',
    ];
    const { rows } = await client.query<{ name: string; oid: number }>(
      `SELECT typname AS name, oid::int FROM pg_type
        WHERE typnamespace = 'pg_catalog'::regnamespace
          AND (typname = ANY($1) OR typname = ANY(SELECT '_' || unnest($1::text[]))
            OR typtype IN ('r', 'm')
            OR typname = ANY(ARRAY['_bool', '_bytea', '_int2', '_int4', '_int8', '_oid', '_xid', '_float4', '_float8',
              '_numeric', '_money', '_date', '_time', '_timetz', '_timestamp', '_timestamptz'])
            OR typelem IN (SELECT oid FROM pg_type WHERE typtype IN ('r', 'm')
              AND typnamespace = 'pg_catalog'::regnamespace))`,
      [textual],
    );
    expect(rows.length).toBeGreaterThan(textual.length * 2 + 30);
    for (const { name, oid } of rows) {
      const mapping = mapPostgresType(oid, -1);
      if (mapping.type.type !== 'STRING' || mapping.warning) throw new TypeError(`${name} (${oid}) is not textual`);
    }
  });

  it('maps no other type of the catalog to a typed column by accident', async () => {
    const { rows } = await client.query<{ name: string; oid: number }>(
      `SELECT typname AS name, oid::int FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace`,
    );
    const typed = rows.filter(({ oid }) => mapPostgresType(oid, -1).type.type !== 'STRING').map(({ name }) => name);
    expect(typed.sort()).toEqual([
      'bool',
      'bytea',
      'date',
      'float4',
      'float8',
      'int2',
      'int4',
      'int8',
      'money',
      'numeric',
      'oid',
      'time',
      'timestamp',
      'timestamptz',
      'timetz',
      'void',
      'xid',
    ]);
  });

  it.each([
    ['numeric(12,2)', { type: 'DECIMAL', precision: 12, scale: 2 }],
    ['numeric(15,15)', { type: 'DECIMAL', precision: 15, scale: 15 }],
    ['numeric(38,10)', { type: 'BIGDECIMAL', precision: 38, scale: 10 }],
    ['numeric(1000,0)', { type: 'BIGDECIMAL', precision: 1000, scale: 0 }],
    ['numeric(3,-2)', { type: 'DECIMAL', precision: 5, scale: 0 }],
    ['numeric(2,5)', { type: 'DECIMAL', precision: 5, scale: 5 }],
    ['numeric(1,-1000)', { type: 'BIGDECIMAL', precision: 1001, scale: 0 }],
    ['numeric(1,1000)', { type: 'BIGDECIMAL', precision: 1000, scale: 1000 }],
    ['numeric', { type: 'BIGDECIMAL' }],
  ])('reads the size of %s as the server sends it', async (type, wanted) => {
    const [field] = await describeColumns(`SELECT NULL::${type}`);
    expect(mapPostgresType(field!.dataTypeID, field!.dataTypeModifier).type).toEqual(wanted);
  });

  it('gives a sum and an average no size: they have none, and scale 0 rounded them once', async () => {
    const fields = await describeColumns('SELECT sum(x), avg(x) FROM (SELECT 1::numeric(10,2) AS x) AS t');
    for (const { dataTypeID, dataTypeModifier } of fields) {
      expect(mapPostgresType(dataTypeID, dataTypeModifier).type).toEqual({ type: 'BIGDECIMAL' });
    }
  });
});
