import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { MemoryTransientStore } from '#libs/transient';

import { DatasourceBench, People } from '../../libs/datasources/datasources.fixture.js';
import { factBody, refusal, SemanticsBench } from '../../libs/semantics/semantics.fixture.js';
import { startH2, type TestH2 } from '../fixtures/h2.js';
import { startMariadb, type TestMariadb } from '../fixtures/mariadb.js';
import { createTestDatabase, type TestDatabase } from '../fixtures/postgres.js';
import { describeWithProgram } from '../fixtures/programs.js';

/*
 * Facts about tables of engines that show a login only what it may see: their catalogs can prove a change, and never that
 * something is gone (06 §11).
 */

type Server = TestMariadb | TestH2;

interface Engine {
  dialect: string;
  url: (server: Server) => string;
  schema: string;
  setup: readonly string[];
  /** A statement of the probe that fails in the database. */
  failing: string;
}

function factsOn(start: () => Promise<Server>, engine: Engine): void {
  const { schema } = engine;
  const [orders, total] = ['orders', 'total_cents'];
  let server: Server;
  let db: TestDatabase;
  let bench: DatasourceBench;
  let semantics: SemanticsBench;
  let team: People;

  beforeAll(async () => {
    server = await start();
    await server.sql(...engine.setup);
  }, 60_000);
  afterAll(async () => await server.stop());

  beforeEach(async () => {
    await server.sql(
      'DROP TABLE IF EXISTS orders',
      'CREATE TABLE orders (id INT PRIMARY KEY, total_cents BIGINT)',
      'INSERT INTO orders VALUES (1, 250), (2, 100)',
    );
    db = await createTestDatabase();
    bench = await DatasourceBench.start(db, new MemoryTransientStore({ maxBytes: 1_000_000 }));
    team = await People.of(db, 'team');
    await bench.service.create(team.root, {
      ...{ name: 'ds', display_name: 'x', dialect: engine.dialect, jdbc_url: engine.url(server) },
      credential: { kind: 'password', username: server.username, secret: server.password },
    });
    semantics = new SemanticsBench(bench, db.database);
  });
  afterEach(async () => {
    await bench.stop();
    await db.drop();
  });

  const ref = (column?: string) => ({ table: orders, ...(column === undefined ? {} : { column }) });
  const record = (more = {}) =>
    semantics.service.record(
      team.author,
      'ds',
      factBody({ fact: `${total} holds cents of euro`, refs: [ref(total)], ...more }),
    );
  /** Another instance, which remembers nothing of the catalog. */
  const elsewhere = async <T>(work: (other: SemanticsBench) => Promise<T>): Promise<T> => {
    const other = await DatasourceBench.start(db, new MemoryTransientStore({ maxBytes: 1_000_000 }));
    try {
      return await work(new SemanticsBench(other, db.database));
    } finally {
      await other.stop();
    }
  };
  const columns = () =>
    elsewhere(({ catalog }) => catalog.columns(team.viewer, 'ds', { table: orders, namespace: [schema] }));
  const tables = () => elsewhere(({ catalog }) => catalog.tables(team.viewer, 'ds', {}));
  const trusts = async () =>
    (await db.database.query<{ trust: string }>('SELECT trust FROM learned_facts ORDER BY recorded_at')).map(
      ({ trust }) => trust,
    );

  it('is borne out by a probe of the engine itself, kept under its schema, and known again', async () => {
    const fact = await record({ evidence_sql: 'SELECT max(total_cents) AS most FROM orders' });
    expect([fact.trust, fact.refs]).toEqual(['observed', [{ schema, ...ref(total) }]]);
    expect(fact.evidence_summary).toMatch(/^most=250$/i);
    const again = await refusal(record({ refs: [{ schema, ...ref(total) }] }));
    expect([again.code, again.details]).toEqual(['semantics.duplicate', { existing_id: fact.id }]);
    expect((await columns()).find(({ name }) => name === total)?.facts?.map(({ id }) => id)).toEqual([fact.id]);
  });

  it('is refused with evidence that writes or fails, and about what is not there', async () => {
    const evidence = async (evidence_sql: string) => (await refusal(record({ evidence_sql }))).code;
    expect(await evidence('DELETE FROM orders')).toBe('semantics.evidence_refused');
    expect(await evidence('SELECT 1; SELECT 2')).toBe('semantics.evidence_refused');
    expect(await evidence(engine.failing)).toBe('semantics.evidence_failed');
    const missing = await refusal(record({ fact: 'nothing stands there', refs: [ref('no_such_column')] }));
    expect([missing.code, missing.details['ref']]).toEqual(['semantics.ref_unresolved', expect.anything()]);
    expect((await refusal(record({ fact: 'nothing stands there', refs: [{ table: 'gone' }] }))).code).toBe(
      'semantics.ref_unresolved',
    );
    expect([await trusts(), await server.sql('SELECT count(*) FROM orders')].flat(2).map(String)).toEqual(['2']);
  });

  it('asks for review once a type has changed, and a person confirms it with what is there now', async () => {
    const { id } = await record();
    await columns();
    expect(await trusts()).toEqual(['asserted']);
    await server.sql('DROP TABLE orders', 'CREATE TABLE orders (id INT PRIMARY KEY, total_cents DECIMAL(12,2))');
    const [fact] = (await columns()).find(({ name }) => name === total)?.facts ?? [];
    expect(fact).toMatchObject({ id, trust: 'needs_review', drift: 'table columns changed since this was recorded' });
    expect(await trusts()).toEqual(['needs_review']);
    await elsewhere(({ service }) => service.verify(team.author, id));
    await columns();
    expect(await trusts()).toEqual(['verified']);
  });

  it('is never stale by a name that is missing: the login may only not see it', async () => {
    await record();
    await record({ kind: 'grain', fact: 'one row for each order', refs: [ref()] });
    await server.sql('ALTER TABLE orders DROP COLUMN total_cents');
    await columns();
    await server.sql('CREATE TABLE others (id INT)', 'DROP TABLE orders');
    const listed = (await tables()).tables.map(({ name }) => name.toLowerCase());
    await server.sql('DROP TABLE others');
    expect([listed.includes('others'), listed.includes('orders')]).toEqual([true, false]);
    expect((await trusts()).filter((trust) => trust === 'stale')).toEqual([]);
    const [first] = await db.database.query<{ id: string }>('SELECT id FROM learned_facts ORDER BY recorded_at');
    const judged = await refusal(elsewhere(({ service }) => service.verify(team.author, first?.id ?? '')));
    expect(judged.code).toBe('semantics.ref_unresolved');
  });
}

describe('a fact about a table of another engine', () => {
  describeWithProgram('mariadbd', 'MariaDB', (program) =>
    factsOn(() => startMariadb(program), {
      dialect: 'MYSQL',
      url: ({ host, port, database }) => `jdbc:mysql://${host}:${port}/${database}`,
      schema: 'penstock',
      setup: ['USE penstock'],
      failing: 'SELECT no_such_column FROM orders',
    }),
  );

  describeWithProgram('h2.jar', 'H2', (jar) =>
    factsOn(() => startH2(jar), {
      dialect: 'H2',
      url: ({ host, port, database }) => `jdbc:h2:pg://${host}:${port}/${database}`,
      schema: 'public',
      setup: [],
      failing: 'SELECT no_such_column FROM orders',
    }),
  );
});
