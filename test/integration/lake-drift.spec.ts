import { join } from 'node:path';

import { beforeEach, describe, expect, it } from '@jest/globals';

import { lakeScene, type LakeBench } from '../../libs/lake/lake.fixture.js';
import { factBody, SemanticsBench } from '../../libs/semantics/semantics.fixture.js';

const scene = lakeScene();
const semanticsOf = (bench: LakeBench) => new SemanticsBench(bench.datasources, scene.db.database);
const fields = (name: string, file = 'orders') => ({
  namespace: ['sales'],
  name,
  format: 'parquet' as const,
  location: `file://${join(scene.folder, 'roots', `${file}.parquet`)}`,
  partitionColumn: null,
});
/** Into the registry only: the message that others are told by is still on its way. */
const registeredElsewhere = (name: string, file?: string) =>
  scene.bench.repository.insert(scene.db.database, 'lake', fields(name, file), scene.team.author.userId, null);
const trusts = async () =>
  (await scene.db.database.query<{ trust: string }>('SELECT trust FROM learned_facts ORDER BY recorded_at')).map(
    ({ trust }) => trust,
  );

beforeEach(async () => {
  const root = (name: string): string => join(scene.folder, 'roots', name);
  await scene.make(
    `COPY (SELECT 1 AS id, 5 AS total_cents) TO '${root('orders.parquet')}'`,
    `COPY (SELECT 1 AS id, 5 AS total_cents, 2 AS net_cents) TO '${root('newer.parquet')}'`,
  );
  await scene.registered('lake');
  await registeredElsewhere('orders');
});

describe('facts about a lake whose registry changed a moment ago', () => {
  it('are not stale for an instance that has not heard of the table yet, and stale once it is really gone', async () => {
    const late = semanticsOf(scene.bench);
    expect((await late.catalog.tables(scene.team.viewer, 'lake')).tables.map(({ name }) => name)).toEqual(['orders']);
    await registeredElsewhere('items');
    const knowing = semanticsOf(await scene.another());
    const fact = factBody({ refs: [{ schema: 'sales', table: 'items', column: 'total_cents' }] });
    await knowing.service.record(scene.team.author, 'lake', fact);
    // A complete listing without the table: elsewhere that is the sign that it is gone.
    expect((await late.catalog.tables(scene.team.viewer, 'lake')).tables.map(({ name }) => name)).toEqual(['orders']);
    expect(await trusts()).toEqual(['asserted']);
    await scene.bench.repository.remove(scene.db.database, 'lake', ['sales'], 'items');
    await late.catalog.tables(scene.team.viewer, 'lake');
    expect(await trusts()).toEqual(['stale']);
  });

  it('are not stale for an instance that still has the table under the same name that was there before', async () => {
    const late = semanticsOf(scene.bench);
    await late.catalog.columns(scene.team.viewer, 'lake', { table: 'orders' });
    await scene.bench.repository.remove(scene.db.database, 'lake', ['sales'], 'orders');
    await registeredElsewhere('orders', 'newer');
    const knowing = semanticsOf(await scene.another());
    const fact = factBody({
      fact: 'net_cents holds cents of euro',
      refs: [{ schema: 'sales', table: 'orders', column: 'net_cents' }],
    });
    await knowing.service.record(scene.team.author, 'lake', fact);
    const seen = await late.catalog.columns(scene.team.viewer, 'lake', { table: 'orders' });
    expect(seen.map(({ name }) => name)).toEqual(['id', 'total_cents']);
    expect(await trusts()).toEqual(['asserted']);
    // Nor is one about a column that both have for review, because the others differ.
    await knowing.service.record(
      scene.team.author,
      'lake',
      factBody({ refs: [{ schema: 'sales', table: 'orders', column: 'total_cents' }] }),
    );
    await late.catalog.columns(scene.team.viewer, 'lake', { table: 'orders' });
    expect(await trusts()).toEqual(['asserted', 'asserted']);
  });
});
