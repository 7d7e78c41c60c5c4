import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { readJson, type JsonObject } from '#libs/kernel';
import { MemoryTransientStore } from '#libs/transient';
import type { Dialect } from '#libs/typesystem';

import { startH2, type TestH2 } from '../../../test/fixtures/h2.js';
import { startMariadb, type TestMariadb } from '../../../test/fixtures/mariadb.js';
import { createTestDatabase, type TestDatabase } from '../../../test/fixtures/postgres.js';
import { describeWithProgram } from '../../../test/fixtures/programs.js';
import { refusal } from '../datasource-scene.fixture.js';
import { DatasourceBench, People } from '../datasources.fixture.js';
import { DriverFailure } from '../drivers/driver-failure.js';
import { NEVER } from '../drivers/driver.fixture.js';
import { readBounded } from './bounded-read.js';
import { WRITING_TRICKS } from '../../../test/fixtures/probe-tricks.js';

type Server = TestMariadb | TestH2;
const texts = (rows: readonly { text: string }[]): string[] => rows.map(({ text }) => text);

/** What every engine must do, on one that is a program of its own. */
function behavesOn(
  start: () => Promise<Server>,
  engine: {
    dialect: string;
    url: (server: Server) => string;
    setup: readonly string[];
    orders: string;
    odd: string;
    scan: RegExp;
    statistics: object;
    writes: readonly string[];
  },
) {
  let server: Server;
  let db: TestDatabase;
  let bench: DatasourceBench;
  let author: People['author'];

  beforeAll(async () => {
    server = await start();
    await server.sql(...engine.setup);
  }, 60_000);
  afterAll(async () => await server.stop());

  beforeEach(async () => {
    db = await createTestDatabase();
    bench = await DatasourceBench.start(db, new MemoryTransientStore({ maxBytes: 1_000_000 }));
    const team = await People.of(db, 'team');
    author = team.author;
    await bench.service.create(team.root, {
      ...{ name: 'ds', display_name: 'x', dialect: engine.dialect, jdbc_url: engine.url(server) },
      credential: { kind: 'password', username: server.username, secret: server.password },
    });
  });
  afterEach(async () => {
    await bench.stop();
    await db.drop();
  });

  it('reads with bound values and tells the plan', async () => {
    const sql = `SELECT id FROM ${engine.orders} WHERE customer_id = :who ORDER BY id`;
    const parameters = readJson('{"who":{"type":"INTEGER","value":2}}') as JsonObject;
    const read = await bench.probe.run(author, 'ds', { sql, limit: 2, parameters });
    expect([texts(read.rows), read.truncated]).toEqual([['[1]', '[5]'], true]);
    expect(read.plan).toMatchObject({ scan: expect.stringMatching(engine.scan), raw: expect.any(String) });
  });

  it('gives the database’s own refusal, though it could not explain the statement either', async () => {
    const work = refusal(bench.probe.run(author, 'ds', { sql: `SELECT nothing_here FROM ${engine.orders}` }));
    expect((await work).code).toBe('pipeline.node.query_execution_failed');
    expect((await bench.probe.run(author, 'ds', { sql: 'SELECT 1 AS one' })).row_count).toBe(1);
  });

  it('shows rows of a table whatever it is called', async () => {
    const order_by = [{ column: 'order' }];
    const read = await bench.preview.read(author, 'ds', { table: engine.odd, order_by, limit: 1 });
    expect([texts(read.rows), read.truncated]).toEqual([['[1,"one"]'], true]);
    expect((await refusal(bench.preview.read(author, 'ds', { table: `${engine.odd}; DROP TABLE x` }))).code).toBe(
      'datasource.table_not_found',
    );
  });

  it('says of a table that is not listed that it may be there and not visible', async () => {
    const work = bench.introspection.columns(author, 'ds', { table: `${engine.orders}x` });
    await expect(work).rejects.toMatchObject({
      code: 'datasource.table_not_found',
      message: expect.stringMatching(/missing or not visible/),
      details: { suggestion: engine.orders },
    });
  });

  it('tells what the engine has gathered', async () => {
    expect(await bench.statistics.read(author, 'ds', { table: engine.orders })).toMatchObject(engine.statistics);
  });

  it('is asked without a look at the words, and refuses whatever writes, once more', async () => {
    const state = async () => await server.sql(`SELECT CONCAT(COUNT(*), ' ', SUM(id)) FROM ${engine.orders}`);
    const before = await state();
    const taken: string[] = [];
    for (const sql of WRITING_TRICKS[engine.dialect as Dialect]) {
      const lease = await bench.pools.lease('ds', 'read', NEVER);
      const bounds = { maxRows: 5, maxBytes: 10_000, timeoutMs: 10_000, signal: NEVER };
      const refused = await readBounded(lease, { sql, values: [] }, bounds).then(
        () => false,
        (error: unknown) => error instanceof DriverFailure,
      );
      await lease.release('destroy');
      if (!refused) taken.push(sql);
      expect([sql, await state()]).toEqual([sql, before]);
    }
    expect(taken).toEqual([]);
  });

  it('writes nothing: the classifier refuses it, or the engine does', async () => {
    for (const sql of engine.writes) {
      const { code } = await refusal(bench.probe.run(author, 'ds', { sql }));
      expect([
        sql,
        ['pipeline.execution.invalid_parameter_type', 'pipeline.node.query_execution_failed'].includes(code),
      ]).toEqual([sql, true]);
    }
    const count = await bench.probe.run(author, 'ds', { sql: `SELECT count(*) AS n FROM ${engine.orders}` });
    expect(texts(count.rows)).toEqual(['["60"]']);
  });
}

const inserted = (values: (i: number) => string): string =>
  Array.from({ length: 60 }, (_, at) => values(at + 1)).join(', ');
const ORDERS = inserted((i) => `(${i}, ${1 + (i % 4)}, ${i * 100})`);

describe('probe, preview and statistics on servers of other makes', () => {
  describeWithProgram('mariadbd', 'MariaDB', (program) => {
    behavesOn(() => startMariadb(program), {
      dialect: 'MYSQL',
      url: ({ host, port, database }) => `jdbc:mysql://${host}:${port}/${database}`,
      setup: [
        'USE penstock',
        'CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT, total BIGINT, KEY by_customer (customer_id))',
        `INSERT INTO orders VALUES ${ORDERS}`,
        'CREATE TABLE `Select ``All`` :x` (`order` INT, `a;b -- c` VARCHAR(20))',
        "INSERT INTO `Select ``All`` :x` VALUES (2, 'two'), (1, 'one')",
        'ANALYZE TABLE orders',
        'CREATE FUNCTION sneaky() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO orders VALUES (99, 1, 1); RETURN 1; END',
        `CREATE SEQUENCE numbers`,
      ],
      orders: 'orders',
      odd: 'Select `All` :x',
      scan: /orders/,
      statistics: {
        stats_source: 'information_schema.tables',
        row_estimate: 60,
        indexes: [
          { name: 'PRIMARY', columns: ['id'], unique: true, primary: true, kind: 'btree' },
          { name: 'by_customer', columns: ['customer_id'], unique: false, primary: false, kind: 'btree' },
        ],
        columns: [
          { name: 'id', n_distinct: 60, distinct_is_ratio: false },
          { name: 'customer_id', n_distinct: expect.any(Number), distinct_is_ratio: false },
          { name: 'total', distinct_is_ratio: false },
        ],
      },
      writes: [
        'SELECT sneaky()',
        'SELECT * FROM orders FOR UPDATE',
        "SELECT * FROM orders INTO OUTFILE '/tmp/penstock-stolen'",
        '/*!50000 DELETE FROM orders */',
        'SELECT 1 /*! ; DELETE FROM orders */',
        'SELECT 1; DELETE FROM orders',
        'WITH x AS (SELECT 1) DELETE FROM orders',
        'SELECT `sleep`(3)',
        'DELETE FROM orders RETURNING id',
        'SELECT @a := 1 INTO @b',
      ],
    });
  });

  describeWithProgram('h2.jar', 'H2', (jar) => {
    behavesOn(() => startH2(jar), {
      dialect: 'H2',
      url: ({ host, port, database }) => `jdbc:h2:pg://${host}:${port}/${database}`,
      setup: [
        'CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT, total BIGINT)',
        'CREATE INDEX by_customer ON orders (customer_id)',
        `INSERT INTO orders VALUES ${ORDERS}`,
        'CREATE TABLE "Select ""All"" :x" ("order" INT, "a;b -- c" VARCHAR(20))',
        `INSERT INTO "Select ""All"" :x" VALUES (2, 'two'), (1, 'one')`,
        'CREATE SEQUENCE numbers',
        'ANALYZE',
      ],
      orders: 'orders',
      odd: 'Select "All" :x',
      scan: /by_customer|tableScan/,
      statistics: {
        stats_source: 'h2_information_schema',
        row_estimate: 60,
        indexes: [
          { columns: ['id'], unique: true, primary: true, kind: 'btree' },
          { name: 'by_customer', columns: ['customer_id'], unique: false, primary: false, kind: 'btree' },
        ],
      },
      writes: [
        'SELECT * FROM FINAL TABLE (DELETE FROM ORDERS)',
        'SELECT NEXT VALUE FOR numbers',
        "SELECT nextval('NUMBERS')",
        'SELECT "NEXTVAL"(\'NUMBERS\')',
        "SELECT FILE_WRITE('x', '/tmp/penstock-stolen')",
        "CALL CSVWRITE('/tmp/penstock-stolen', 'SELECT 1')",
        "SELECT * FROM CSVREAD('/etc/passwd')",
        'SELECT 1; DELETE FROM ORDERS',
        'SELECT * FROM ORDERS FOR UPDATE',
        'SELECT SET(@a, 1)',
      ],
    });
  });
});
