import { describe, expect, it } from '@jest/globals';

import { factBody, semanticsScene } from '../semantics.fixture.js';

describe('facts in a crowd', () => {
  const scene = semanticsScene();
  const record = (more = {}, as = scene.team.author, name = 'pg') =>
    scene.semantics.service.record(as, name, factBody(more));

  /** What another workspace recorded, without the checks of recording it one by one. */
  const crowd = async (count: number, more: { kind?: string; refs?: string } = {}): Promise<void> => {
    await scene.bench.service.grant(scene.team.root, 'pg', 'others');
    const { kind = 'window', refs = '[{"table":"orders","schema":"public"}]' } = more;
    await scene.db.database.execute(
      `INSERT INTO learned_facts (id, scope, datasource_name, kind, fact, refs_json, trust, schema_fingerprint, recorded_by, recorded_via, recorded_in)
       SELECT gen_random_uuid(), 'DATASOURCE', 'pg', $1, 'one of many, number ' || i, $2::jsonb, 'asserted', '', $3, 'session', $4
         FROM generate_series(1, $5::int) i`,
      [kind, refs, scene.others.author.userId, scene.others.workspaceId, count],
    );
  };

  it('of another workspace do not hide what one’s own knows, nor what is known of other datasources', async () => {
    const own = await record({ kind: 'window', fact: 'kept for ninety days', refs: [{ table: 'orders' }] });
    const elsewhere = await record(
      { kind: 'window', fact: 'kept for a year', refs: [{ table: 'orders' }] },
      scene.team.author,
      'lite',
    );
    await crowd(20_500);
    const listed = await scene.semantics.catalog.datasources(scene.team.viewer, {}, {});
    const of = (name: string) => listed.items.find((item) => item.name === name)!;
    expect(of('lite').facts.map(({ id }) => id)).toEqual([elsewhere.id]);
    expect([of('pg').facts.length, of('pg').facts_truncated]).toEqual([50, true]);
    expect(of('pg').facts.map(({ id }) => id)).toContain(own.id);
    const { tables } = await scene.semantics.catalog.tables(scene.team.viewer, 'pg');
    const orders = tables.find(({ name }) => name === 'orders')!;
    expect([orders.facts?.length, orders.facts_truncated]).toEqual([50, true]);
    expect(orders.facts?.map(({ id }) => id)).toContain(own.id);
    // Those who recorded the crowd see theirs first, by the same rule.
    const theirs = await scene.semantics.catalog.datasource(scene.others.viewer, 'pg');
    expect(theirs.facts.every(({ from_this_workspace }) => from_this_workspace)).toBe(true);
  });

  it('are listed in full to the five hundredth, and the cut is told', async () => {
    await crowd(499);
    const list = () => scene.semantics.service.list(scene.team.viewer, 'pg', {});
    const lengths = () => list().then(({ facts, truncated }) => [facts.length, truncated]);
    expect(await lengths()).toEqual([499, false]);
    const newest = await record();
    expect(await lengths()).toEqual([500, false]);
    await crowd(1);
    expect(await lengths()).toEqual([500, true]);
    expect((await list()).facts.map(({ id }) => id)).toContain(newest.id);
  });

  it('say nothing against each other where they name nothing: two rules of a team are two rules', async () => {
    const rule = { scope: 'WORKSPACE', kind: 'preference', refs: [] };
    const said = [
      await record({ ...rule, fact: 'amounts are shown in euro' }),
      await record({ ...rule, fact: 'weeks begin on Monday' }),
    ];
    const { facts } = await scene.semantics.service.list(scene.team.viewer, 'pg', {});
    expect(facts.map(({ id, conflict }) => [id, conflict])).toEqual(said.reverse().map(({ id }) => [id, undefined]));
    const against = { kind: 'grain', refs: [{ table: 'orders' }] };
    await record({ ...against, fact: 'one row for each order' });
    await record({ ...against, fact: 'one row for each item' });
    const both = (await scene.semantics.service.list(scene.team.viewer, 'pg', { scope: 'DATASOURCE' })).facts;
    expect(both.map(({ conflict }) => conflict)).toEqual([true, true]);
  });

  it('at one column are shown newest first, one’s own among them, and their conflicts are told of all', async () => {
    const own = await record();
    await crowd(60, { kind: 'unit', refs: '[{"table":"orders","column":"total_cents","schema":"public"}]' });
    const columns = await scene.semantics.catalog.columns(scene.team.viewer, 'pg', { table: 'orders' });
    const { facts = [], facts_truncated } = columns.find(({ name }) => name === 'total_cents')!;
    expect([facts.length, facts_truncated, facts.at(-1)?.id]).toEqual([50, true, own.id]);
    expect(facts.every(({ conflict }) => conflict === true)).toBe(true);
  });

  it('a conflict with a fact that is not shown beside a datasource is told all the same', async () => {
    await crowd(60);
    await crowd(1, { kind: 'sampling' });
    const { facts } = await scene.semantics.catalog.datasource(scene.team.viewer, 'pg');
    expect(facts.map(({ kind, conflict }) => `${kind} ${conflict === true}`).slice(0, 2)).toEqual([
      'sampling false',
      'window true',
    ]);
  });

  it('of one’s own are cut by age alone', async () => {
    const { userId, workspace } = scene.team.author;
    await scene.db.database.execute(
      `INSERT INTO learned_facts (id, scope, datasource_name, workspace_id, kind, fact, refs_json, trust, schema_fingerprint, recorded_by, recorded_via, recorded_in, recorded_at)
       SELECT gen_random_uuid(), 'WORKSPACE', 'pg', $2, 'definition', 'rule number ' || i, '[]', 'asserted', '', $1, 'session', $2, '2026-01-01'::timestamptz + i * interval '1 hour'
         FROM generate_series(1, 60) i`,
      [userId, workspace?.id],
    );
    const { definitions, facts_truncated } = await scene.semantics.catalog.datasource(scene.team.viewer, 'pg');
    expect([definitions.length, definitions[0]?.fact, definitions.at(-1)?.fact, facts_truncated]).toEqual([
      50,
      'rule number 60',
      'rule number 11',
      true,
    ]);
  });
});
