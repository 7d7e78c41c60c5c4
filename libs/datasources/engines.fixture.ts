import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { DuckDBInstance } from '@duckdb/node-api';

import type { JsonObject } from '#libs/kernel';
import { MemoryTransientStore } from '#libs/transient';

import { createTestDatabase, type TestDatabase } from '../../test/fixtures/postgres.js';
import { DatasourceBench, People } from './datasources.fixture.js';
import { NEVER } from './drivers/driver.fixture.js';
import { loginOf, PostgresBench } from './drivers/postgres/postgres.fixture.js';

export const ENGINES = ['pg', 'lite', 'duck'] as const;
export type Engine = (typeof ENGINES)[number];

/** One shop, as every engine spells it: 60 orders of 4 customers, and names that only quoting survives. */
const SHOP = `
  CREATE TABLE customers (id INTEGER PRIMARY KEY, email VARCHAR(60) NOT NULL UNIQUE);
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), total_cents BIGINT, placed_on DATE);
  CREATE INDEX orders_by_customer ON orders (customer_id);
  CREATE TABLE "Select ""All"" :x" ("order" INTEGER, "a;b -- c" VARCHAR(20));
  INSERT INTO "Select ""All"" :x" VALUES (2, 'two'), (1, 'one');
  CREATE TABLE empty_one (a INTEGER);`;

/** The same data through three engines, a process of datasources on them, and two workspaces. Call once per spec. */
export function engineScene() {
  let postgres: PostgresBench;
  const scene = {} as {
    db: TestDatabase;
    store: MemoryTransientStore;
    bench: DatasourceBench;
    team: People;
    others: People;
    /** Runs statements of the owner's on the PostgreSQL behind `pg`. */
    onPostgres(sql: string): Promise<(string | null)[][]>;
    onSqlite(sql: string): void;
    /** Registers one more datasource on the same PostgreSQL. */
    registerPostgres(name: string, more?: JsonObject): Promise<void>;
  };
  let folder: string;

  beforeAll(async () => {
    postgres = await PostgresBench.create();
    const owner = await postgres.connect();
    scene.onPostgres = async (sql) => (await owner.control(sql)).rows;
    folder = mkdtempSync(join(tmpdir(), 'penstock-engines-'));
    scene.onSqlite = (sql) => {
      const database = new DatabaseSync(join(folder, 'shop.db'));
      database.exec(sql);
      database.close();
    };
    const duckdb = await DuckDBInstance.create(join(folder, 'shop.duckdb'));
    const connection = await duckdb.connect();
    const fill = (series: string): string => `
      INSERT INTO customers SELECT i, 'c' || i || '@example.org' FROM ${series}(1, 4) t(i);
      INSERT INTO orders SELECT i, 1 + i % 4, i * 100, DATE '2026-01-01' + CAST(i AS INTEGER) FROM ${series}(1, 60) t(i);`;
    await scene.onPostgres(SHOP);
    await scene.onPostgres(fill('generate_series'));
    await scene.onPostgres('ANALYZE customers; ANALYZE orders');
    await connection.run(SHOP);
    await connection.run(fill('generate_series'));
    connection.disconnectSync();
    duckdb.closeSync();
    scene.onSqlite(SHOP);
    scene.onSqlite(`
      WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < 4)
        INSERT INTO customers SELECT i, 'c' || i || '@example.org' FROM t;
      WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < 60)
        INSERT INTO orders SELECT i, 1 + i % 4, i * 100, date('2026-01-01', i || ' days') FROM t;
      ANALYZE;`);
  });

  beforeEach(async () => {
    scene.db = await createTestDatabase();
    scene.store = new MemoryTransientStore({ maxBytes: 1_000_000 });
    scene.bench = await DatasourceBench.start(scene.db, scene.store, { DATAPIPELINES_DATASOURCES_FILE_ROOTS: folder });
    scene.team = await People.of(scene.db, 'team');
    scene.others = await People.of(scene.db, 'others');
    await scene.registerPostgres('pg');
    for (const [name, dialect, url] of [
      ['lite', 'SQLITE', `jdbc:sqlite:${join(folder, 'shop.db')}`],
      ['duck', 'DUCKDB', `jdbc:duckdb:${join(folder, 'shop.duckdb')}`],
    ] as const) {
      const body = { name, display_name: 'x', dialect, jdbc_url: url, credential: { kind: 'none' } };
      await scene.bench.service.create(scene.team.root, body);
    }
  });

  scene.registerPostgres = async (name, more = {}) => {
    const { host, port, database, username, secret } = loginOf(postgres.database.url);
    await scene.bench.service.create(scene.team.root, {
      name,
      display_name: 'x',
      dialect: 'POSTGRES',
      jdbc_url: `jdbc:postgresql://${host}:${port}/${database}`,
      credential: { kind: 'password', username, secret },
      ...more,
    });
  };

  afterEach(async () => {
    await scene.bench.stop();
    await scene.db.drop();
  });

  afterAll(async () => {
    await postgres.close();
    rmSync(folder, { recursive: true });
  });
  return scene;
}

export { NEVER };
