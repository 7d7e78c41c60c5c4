import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { DuckDBInstance } from '@duckdb/node-api';

import type { JsonObject, PenstockError } from '#libs/kernel';
import { MemoryTransientStore } from '#libs/transient';

import { ListeningLogger } from '../../../test/fixtures/listening-logger.js';
import { createTestDatabase, type TestDatabase } from '../../../test/fixtures/postgres.js';
import { DatasourceBench, People } from '../datasources.fixture.js';
import { NEVER } from '../drivers/driver.fixture.js';
import { loginOf, PostgresBench } from '../drivers/postgres/postgres.fixture.js';

describe('introspection', () => {
  let postgres: PostgresBench;
  let db: TestDatabase;
  let bench: DatasourceBench;
  let log: ListeningLogger;
  let team: People;
  let folder: string;

  beforeAll(async () => {
    postgres = await PostgresBench.create();
    const connection = await postgres.connect();
    await connection.control(`
      CREATE SCHEMA sales; CREATE TYPE sales.mood AS ENUM ('a'); CREATE DOMAIN sales.cents AS numeric(12,2) NOT NULL;
      CREATE TABLE sales.customers (id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "E-Mail" text NOT NULL UNIQUE);
      CREATE TABLE sales.orders (
        customer int8 REFERENCES sales.customers (id), line int4, total sales.cents, m sales.mood, tags text[], p point, at timestamptz,
        PRIMARY KEY (line, customer));
      COMMENT ON TABLE sales.orders IS 'One row per line'; COMMENT ON COLUMN sales.orders.total IS 'in EUR';
      CREATE VIEW sales.big AS SELECT * FROM sales.orders; CREATE MATERIALIZED VIEW sales.sums AS SELECT 1 AS one;
      CREATE TABLE sales.parts (i int) PARTITION BY RANGE (i);
      CREATE TABLE public.plain (a int); CREATE TABLE public."Sales%" (b int)`);
    folder = mkdtempSync(join(tmpdir(), 'penstock-introspection-'));
    const sqlite = new DatabaseSync(join(folder, 'a.db'));
    sqlite.exec(`CREATE TABLE parent (id INTEGER PRIMARY KEY, name VARCHAR(10) NOT NULL);
      CREATE TABLE child (a BIGINT, parent_id INT REFERENCES parent(id), b BLOB, d, PRIMARY KEY (a, parent_id)); CREATE VIEW v AS SELECT 1 AS x`);
    sqlite.close();
    const instance = await DuckDBInstance.create(join(folder, 'b.duckdb'));
    const duckdb = await instance.connect();
    await duckdb.run(`CREATE SCHEMA s; CREATE TABLE s.p (a INTEGER PRIMARY KEY, b DECIMAL(10,2) NOT NULL);
      CREATE TABLE s.q (x INTEGER REFERENCES s.p (a), l INTEGER[]); CREATE VIEW s.w AS SELECT 1 AS z; COMMENT ON TABLE s.q IS 'hi'; CREATE TABLE top (i INT)`);
    duckdb.disconnectSync();
    instance.closeSync();
  });

  beforeEach(async () => {
    db = await createTestDatabase();
    log = new ListeningLogger();
    const environment = { DATAPIPELINES_DATASOURCES_FILE_ROOTS: folder };
    const store = new MemoryTransientStore({ maxBytes: 1_000_000 });
    bench = await DatasourceBench.start(db, store, environment, undefined, log);
    team = await People.of(db, 'team');
    const { host, port, database, username, secret } = loginOf(postgres.database.url);
    const pg = {
      name: 'pg',
      display_name: 'x',
      dialect: 'POSTGRES',
      jdbc_url: `jdbc:postgresql://${host}:${port}/${database}`,
      credential: { kind: 'password', username, secret },
    };
    const file = (name: string, dialect: string, jdbc_url: string): JsonObject => ({
      name,
      display_name: 'x',
      dialect,
      jdbc_url,
      credential: { kind: 'none' },
    });
    await bench.service.create(team.root, pg);
    await bench.service.create(team.root, { ...pg, name: 'pg-system', introspection_include_schemas: ['pg_catalog'] });
    await bench.service.create(team.root, file('lite', 'SQLITE', `jdbc:sqlite:${join(folder, 'a.db')}`));
    await bench.service.create(team.root, file('duck', 'DUCKDB', `jdbc:duckdb:${join(folder, 'b.duckdb')}`));
    await bench.service.create(team.root, { ...pg, name: 'down', jdbc_url: 'jdbc:postgresql://127.0.0.1:1/x' });
  });

  afterEach(async () => {
    await bench.stop();
    await db.drop();
  });

  afterAll(async () => {
    await postgres.close();
    rmSync(folder, { recursive: true });
  });

  const tables = async (name: string, namespace?: string[]): Promise<string[]> =>
    (await bench.introspection.tables(team.viewer, name, { namespace })).tables.map(
      (table) => `${table.namespace.join('.')}/${table.name} ${table.type}`,
    );

  const code = async (work: Promise<unknown>): Promise<[string, Record<string, unknown>]> => {
    const error = (await work.catch((reason: unknown) => reason)) as PenstockError;
    return [error.code, error.details];
  };

  it('PostgreSQL: schemas without the system’s, unless they are included by name', async () => {
    expect(await bench.introspection.schemas(team.viewer, 'pg')).toEqual({
      schemas: ['public', 'sales'],
      entries: [
        { namespace: ['public'], label: 'public' },
        { namespace: ['sales'], label: 'sales' },
      ],
      truncated: false,
    });
    expect((await bench.introspection.schemas(team.viewer, 'pg-system')).schemas).toEqual([
      'pg_catalog',
      'public',
      'sales',
    ]);
    expect(await tables('pg', ['pg_catalog'])).toEqual([]);
    expect((await tables('pg-system', ['pg_catalog'])).length).toBeGreaterThan(50);
  });

  it('PostgreSQL: tables by exact, bound filters, across schemas without one', async () => {
    expect(await tables('pg', ['sales'])).toEqual([
      'sales/big VIEW',
      'sales/customers TABLE',
      'sales/orders TABLE',
      'sales/parts PARTITIONED TABLE',
      'sales/sums MATERIALIZED VIEW',
    ]);
    expect((await tables('pg')).length).toBe(7);
    for (const namespace of [['SALES'], ['sale_'], ['%'], [`sales' OR '1'='1`], ['sales', 'deeper'], ['nowhere']])
      expect(await tables('pg', namespace)).toEqual([]);
  });

  it('PostgreSQL: columns with canonical types, keys, references and remarks', async () => {
    expect(await bench.introspection.columns(team.viewer, 'pg', { table: 'orders', namespace: ['sales'] })).toEqual([
      {
        name: 'customer',
        type: 'BIGINTEGER',
        nullable: false,
        source_type: 'bigint',
        warnings: [],
        primary_key: 2,
        references: { namespace: ['sales'], table: 'customers', column: 'id' },
      },
      { name: 'line', type: 'INTEGER', nullable: false, source_type: 'integer', warnings: [], primary_key: 1 },
      {
        name: 'total',
        type: 'DECIMAL',
        precision: 12,
        scale: 2,
        nullable: false,
        source_type: 'sales.cents',
        warnings: [],
        remarks: 'in EUR',
      },
      { name: 'm', type: 'STRING', nullable: true, source_type: 'sales.mood', warnings: [] },
      { name: 'tags', type: 'STRING', nullable: true, source_type: 'text[]', warnings: [] },
      { name: 'p', type: 'STRING', nullable: true, source_type: 'point', warnings: [] },
      { name: 'at', type: 'TIMESTAMP', nullable: true, source_type: 'timestamp with time zone', warnings: [] },
    ]);
    expect((await bench.introspection.columns(team.viewer, 'pg', { table: 'plain' })).map(({ name }) => name)).toEqual([
      'a',
    ]);
  });

  it('a table that is not there is 404 with the name that was meant', async () => {
    const columns = (table: string, namespace?: string[]) =>
      code(bench.introspection.columns(team.viewer, 'pg', { table, namespace }));
    expect(await columns('Orders', ['sales'])).toEqual([
      'datasource.table_not_found',
      { table: 'Orders', namespace: ['sales'], suggestion: 'orders' },
    ]);
    expect(await columns('odrers', ['sales'])).toEqual([
      'datasource.table_not_found',
      { table: 'odrers', namespace: ['sales'], suggestion: 'orders' },
    ]);
    expect(await columns('entirely_else', ['sales'])).toEqual([
      'datasource.table_not_found',
      { table: 'entirely_else', namespace: ['sales'] },
    ]);
    expect((await columns('orders'))[0]).toBe('datasource.table_not_found');
    expect((await columns('orders', ['nowhere']))[0]).toBe('datasource.table_not_found');
  });

  it('SQLite has no schemas; its tables, keys and references come from pragma functions', async () => {
    expect(await bench.introspection.schemas(team.viewer, 'lite')).toEqual({
      schemas: [],
      entries: [],
      truncated: false,
    });
    expect(await tables('lite')).toEqual(['/child TABLE', '/parent TABLE', '/v VIEW']);
    expect(await tables('lite', ['main'])).toEqual([]);
    expect(await bench.introspection.columns(team.viewer, 'lite', { table: 'child' })).toEqual([
      { name: 'a', type: 'BIGINTEGER', nullable: true, source_type: 'BIGINT', warnings: [], primary_key: 1 },
      {
        name: 'parent_id',
        type: 'INTEGER',
        nullable: true,
        source_type: 'INT',
        warnings: [],
        primary_key: 2,
        references: { namespace: [], table: 'parent', column: 'id' },
      },
      { name: 'b', type: 'BINARY', nullable: true, source_type: 'BLOB', warnings: [] },
      { name: 'd', type: 'STRING', nullable: true, source_type: '', warnings: [] },
    ]);
  });

  it('DuckDB: its own file’s schemas only', async () => {
    expect((await bench.introspection.schemas(team.viewer, 'duck')).schemas).toEqual(['main', 's']);
    expect(await tables('duck')).toEqual(['main/top BASE TABLE', 's/p BASE TABLE', 's/q BASE TABLE', 's/w VIEW']);
    expect(await bench.introspection.columns(team.viewer, 'duck', { table: 'q', namespace: ['s'] })).toEqual([
      {
        name: 'x',
        type: 'INTEGER',
        nullable: true,
        source_type: 'INTEGER',
        warnings: [],
        references: { namespace: ['s'], table: 'p', column: 'a' },
      },
      { name: 'l', type: 'STRING', nullable: true, source_type: 'INTEGER[]', warnings: [] },
    ]);
    expect(await bench.introspection.columns(team.viewer, 'duck', { table: 'p', namespace: ['s'] })).toEqual([
      { name: 'a', type: 'INTEGER', nullable: false, source_type: 'INTEGER', warnings: [], primary_key: 1 },
      {
        name: 'b',
        type: 'DECIMAL',
        precision: 10,
        scale: 2,
        nullable: false,
        source_type: 'DECIMAL(10,2)',
        warnings: [],
      },
    ]);
    expect((await bench.introspection.columns(team.viewer, 'duck', { table: 'top' })).map(({ name }) => name)).toEqual([
      'i',
    ]);
  });

  it('a caller who gives up takes the read with him, so that nothing goes on in the database for nobody', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await bench.service.create(team.admin, {
      name: 'silent',
      display_name: 'x',
      dialect: 'POSTGRES',
      jdbc_url: `jdbc:postgresql://127.0.0.1:${port}/x`,
      credential: { kind: 'password', username: 'u', secret: 's' },
    });
    const gaveUp = new AbortController();
    const connected = once(silent, 'connection') as Promise<[Socket]>;
    const refused = expect(bench.introspection.schemas(team.admin, 'silent', gaveUp.signal)).rejects.toMatchObject({
      code: 'pipeline.node.query_timeout',
    });
    const [socket] = await connected;
    const closed = once(socket.resume(), 'close');
    gaveUp.abort();
    await Promise.all([refused, closed]);
    silent.close();
  });

  it('an unreachable datasource is 502 without driver text, a warning for the operator, and a key needs the author scope', async () => {
    expect(await code(bench.introspection.schemas(team.viewer, 'down'))).toEqual([
      'pipeline.execution.datasource_unreachable',
      { datasource: 'down', reason: 'ECONNREFUSED' },
    ]);
    expect(log.lines.filter(({ level }) => level === 'warn' || level === 'error')).toMatchObject([
      { level: 'warn', message: 'datasource.unreachable', fields: { datasource: 'down' } },
    ]);
    expect((await code(bench.introspection.schemas(team.key('read'), 'pg')))[0]).toBe('auth.scope.insufficient');
    expect((await bench.introspection.schemas(team.key('author'), 'pg')).schemas).toContain('sales');
  });

  it('2,000 tables are listed and no more, and the cut is told', async () => {
    const connection = await postgres.connect();
    await connection.control(
      `CREATE SCHEMA many; DO $$ BEGIN FOR i IN 1..2001 LOOP EXECUTE format('CREATE TABLE many.t%s ()', i); END LOOP; END $$`,
    );
    const { tables: listed, truncated } = await bench.introspection.tables(team.viewer, 'pg', { namespace: ['many'] });
    expect([listed.length, truncated]).toEqual([2000, true]);
    await connection.execute({ sql: 'DROP SCHEMA many CASCADE', values: [] }, { signal: NEVER }).catch(() => undefined);
  });
});
