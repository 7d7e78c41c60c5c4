import { renameSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, it, jest } from '@jest/globals';

import { lakeScene, refusal } from '../../libs/lake/lake.fixture.js';
import { factBody, SemanticsBench } from '../../libs/semantics/semantics.fixture.js';

jest.setTimeout(20_000);

/*
 * Facts about the tables of a lake: a namespace of two names is one dotted schema in a ref, two tables of one name in two
 * namespaces are two tables, and what is no longer registered is gone.
 */

const scene = lakeScene();
const root = (...parts: string[]): string => join(scene.folder, 'roots', ...parts);
const AMOUNT = { schema: 'sales.eu', table: 'orders', column: 'amount' };

let semantics: SemanticsBench;

const register = (namespace: string[], name: string, file: string) =>
  scene.bench.tables.register(scene.team.author, 'lake', {
    namespace, name, format: 'parquet', location: `file://${root(file)}`,
  }); // prettier-ignore
const record = (more = {}) => semantics.service.record(scene.team.author, 'lake', factBody(more));
const amount = (more = {}) => record({ fact: 'amount holds cents of euro', refs: [AMOUNT], ...more });
const columns = (namespace: string[], bench = semantics) =>
  bench.catalog.columns(scene.team.viewer, 'lake', { table: 'orders', namespace });
const tables = (bench = semantics) => bench.catalog.tables(scene.team.viewer, 'lake', {});
const trustOf = async (id: string): Promise<unknown> =>
  (await scene.db.database.query<{ trust: string }>('SELECT trust FROM learned_facts WHERE id = $1', [id]))[0]?.trust;

beforeEach(async () => {
  await scene.make(
    `COPY (SELECT 1 AS id, 250 AS amount) TO '${root('eu.parquet')}'`,
    `COPY (SELECT 1 AS id, 'x' AS label) TO '${root('all.parquet')}'`,
  );
  await scene.registered('lake');
  await register(['sales', 'eu'], 'orders', 'eu.parquet');
  await register(['sales'], 'orders', 'all.parquet');
  semantics = new SemanticsBench(scene.bench.datasources, scene.db.database);
});

describe('a fact about a table of a lake', () => {
  it('is borne out by the lake itself, and kept under the whole namespace', async () => {
    const fact = await amount({ evidence_sql: 'SELECT max(amount) AS most FROM sales.eu.orders' });
    expect([fact.trust, fact.evidence_summary, fact.refs]).toEqual(['observed', 'most=250', [AMOUNT]]);
    const [{ schema_fingerprint }] = (await scene.db.database.query(
      'SELECT schema_fingerprint FROM learned_facts',
    )) as [{ schema_fingerprint: string }];
    expect(schema_fingerprint).toMatch(/^sales\.eu\.orders=[0-9a-f]{64}$/);
    const again = await refusal(amount());
    expect([again.code, again.details]).toEqual(['semantics.duplicate', { existing_id: fact.id }]);
  });

  it('stands beside that table and column, not beside its namesake one level up', async () => {
    const unit = await amount();
    const grain = await record({ kind: 'grain', fact: 'one row for each order', refs: [{ schema: 'sales.eu', table: 'orders' }] });
    const listed = (await tables()).tables.map(({ namespace, facts = [] }) => [namespace, facts.map(({ id }) => id)]);
    expect(listed).toEqual(expect.arrayContaining([[['sales'], []], [['sales', 'eu'], [grain.id]]]));
    const at = async (namespace: string[]) => (await columns(namespace)).flatMap(({ name, facts = [] }) => facts.map(({ id }) => [name, id]));
    expect([await at(['sales', 'eu']), await at(['sales'])]).toEqual([[['amount', unit.id]], []]);
    const found = async (table: string) => (await semantics.service.list(scene.team.viewer, 'lake', { table })).facts.map(({ id }) => id);
    expect([await found('orders'), await found('sales.eu.orders'), await found('sales.orders')]).toEqual([[grain.id, unit.id], [grain.id, unit.id], []]);
  }); // prettier-ignore

  it.each([
    [{ schema: 'sales', table: 'orders', column: 'amount' }, {}],
    [{ schema: 'eu', table: 'orders' }, { schemas: ['sales', 'sales.eu'] }],
    [{ schema: 'sales.eu', table: 'order' }, { suggestion: 'orders' }],
    [{ schema: 'sales.eu', table: 'orders', column: 'amounts' }, { suggestion: 'amount' }],
    [{ schema: 'sales.eu.orders', table: 'orders' }, { schemas: ['sales', 'sales.eu'] }],
    [{ table: 'orders' }, { schemas: ['sales', 'sales.eu'] }],
  ])('is refused when %j is not registered so, or could be two, and told where it stands', async (ref, hint) => {
    const refused = await refusal(record({ fact: 'nothing stands there', refs: [ref] }));
    expect([refused.code, refused.details]).toEqual(['semantics.ref_unresolved', { ref: expect.anything(), ...hint }]);
    expect(await scene.db.database.query('SELECT 1 FROM learned_facts')).toEqual([]);
  });

  it('asks for review once the files of the table have another type', async () => {
    const { id } = await amount();
    await columns(['sales', 'eu']);
    expect(await trustOf(id)).toBe('asserted');
    await scene.make(`COPY (SELECT 1 AS id, 2.5::DECIMAL(9,2) AS amount) TO '${root('new.parquet')}'`);
    renameSync(root('new.parquet'), root('eu.parquet'));
    const other = new SemanticsBench((await scene.another()).datasources, scene.db.database);
    const seen = (await columns(['sales', 'eu'], other)).find(({ name }) => name === 'amount');
    expect(seen?.facts).toEqual([
      expect.objectContaining({
        id,
        trust: 'needs_review',
        drift: 'table columns changed since this was recorded',
      }),
    ]);
    expect(await trustOf(id)).toBe('needs_review');
  });

  it('is stale once its table is unregistered, by its whole name, and its namesake’s facts are not', async () => {
    const gone = await amount({ refs: [{ schema: 'sales.eu', table: 'orders' }, { schema: 'sales', table: 'orders' }] });
    const kept = await record({ kind: 'caveat', fact: 'labels are free text', refs: [{ schema: 'sales', table: 'orders', column: 'label' }] });
    await scene.bench.tables.unregister(scene.team.author, 'lake', { namespace: 'sales.eu', table: 'orders' });
    const [orders, ...others] = (await tables()).tables;
    expect([orders?.namespace, others]).toEqual([['sales'], []]);
    expect(orders?.facts).toEqual([expect.objectContaining({ id: gone.id, trust: 'stale', drift: 'table sales.eu.orders no longer exists' })]);
    expect([await trustOf(gone.id), await trustOf(kept.id)]).toEqual(['stale', 'asserted']);
    expect((await refusal(semantics.service.verify(scene.team.author, gone.id))).code).toBe('semantics.ref_unresolved');
  }); // prettier-ignore

  it('is not stale when the table’s files cannot be read: broken is not gone', async () => {
    const { id } = await amount();
    renameSync(root('eu.parquet'), root('away'));
    const other = new SemanticsBench((await scene.another()).datasources, scene.db.database);
    expect((await refusal(columns(['sales', 'eu'], other))).code).toBe('datasource.lake.table_unavailable');
    await tables(other);
    expect(await trustOf(id)).toBe('asserted');
  });

  it('is not borne out by a query that reads a broken table, and the refusal names the table and what is wrong', async () => {
    renameSync(root('eu.parquet'), root('away'));
    const other = new SemanticsBench((await scene.another()).datasources, scene.db.database);
    const evidence = {
      refs: [{ schema: 'sales', table: 'orders' }],
      evidence_sql: 'SELECT max(amount) FROM sales.eu.orders',
    };
    const refused = await refusal(
      other.service.record(scene.team.author, 'lake', factBody({ fact: 'rows are whole orders', ...evidence })),
    );
    expect([refused.code, refused.details]).toEqual(['semantics.evidence_failed', { reason: 'table_unavailable' }]);
    expect(refused.message).toMatch(/sales\.eu\.orders/);
    expect(await scene.db.database.query('SELECT 1 FROM learned_facts')).toEqual([]);
  });
});
