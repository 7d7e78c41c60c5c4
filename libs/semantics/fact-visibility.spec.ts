import { describe, expect, it } from '@jest/globals';

import type { Principal } from '#libs/kernel';

import { factBody, refusal, semanticsScene } from './semantics.fixture.js';

describe('who sees a fact', () => {
  const scene = semanticsScene();
  const record = (more = {}, as = scene.team.author) => scene.semantics.service.record(as, 'pg', factBody(more));
  const RULE = { scope: 'WORKSPACE', kind: 'definition', fact: 'revenue is after tax', refs: [{ table: 'orders' }] };
  const WINDOW = { kind: 'window', fact: 'kept for ninety days', refs: [{ table: 'orders' }] };

  /** Ids of facts by each way to read them. */
  async function seenBy(reader: Principal, ids: readonly string[]): Promise<Record<string, string[]>> {
    const { service, listing, catalog } = scene.semantics;
    const sorted = (facts: readonly { id: string }[]) => [...new Set(facts.map(({ id }) => id))].sort();
    const whole = await catalog.datasources(reader, {}, {});
    const at = async <T>(read: Promise<T>, facts: (found: T) => readonly { id: string }[]) =>
      await read.then(
        (found) => sorted(facts(found)),
        (error: { code: string }) => [error.code],
      );
    return {
      list: await at(service.list(reader, 'pg', { include_retired: true }), ({ facts }) => facts),
      listKeyset: sorted((await listing.listKeyset(reader, { include_retired: true }, { first: 50 })).items),
      pages: sorted((await listing.pages(reader, ['pg'], { include_retired: true }, { first: 50 })).get('pg')?.items ?? []),
      factsOf: [...(await listing.factsOf(reader, ids)).keys()].sort(),
      datasources: sorted(whole.items.flatMap(({ facts, definitions }) => [...facts, ...definitions])),
      tables: await at(catalog.tables(reader, 'pg'), ({ tables }) => tables.flatMap(({ facts = [] }) => facts)),
      columns: await at(catalog.columns(reader, 'pg', { table: 'orders' }), (found) => found.flatMap(({ facts = [] }) => facts)),
    };
  } // prettier-ignore

  it('one about data wherever the datasource is granted, a team’s rule at home only, by every way there is', async () => {
    const facts = { unit: (await record()).id, window: (await record(WINDOW)).id, rule: (await record(RULE)).id };
    const retired = (await record({ fact: 'total_cents was in euro' })).id;
    await scene.semantics.service.retire(scene.team.author, retired, { reason: 'wrong' });
    const ids = [...Object.values(facts), retired];
    const all = [...ids].sort();
    const home = await seenBy(scene.team.viewer, ids);
    const inline = { datasources: [facts.window, facts.rule].sort(), tables: [facts.window, facts.rule].sort(), columns: [facts.unit] };
    expect(home).toEqual({ list: all, listKeyset: all, pages: all, factsOf: all, ...inline });
    const none = { listKeyset: [], pages: [], factsOf: [], datasources: [] };
    const notFound = ['datasource.not_found'];
    const ungranted = { ...none, list: notFound, tables: notFound, columns: notFound };
    expect(await seenBy(scene.others.viewer, ids)).toEqual(ungranted);
    await scene.bench.service.grant(scene.team.root, 'pg', 'others');
    const shared = [facts.unit, facts.window, retired].sort();
    expect(await seenBy(scene.others.viewer, ids)).toEqual({
      list: shared, listKeyset: shared, pages: shared, factsOf: shared, datasources: [facts.window], tables: [facts.window], columns: [facts.unit],
    });
    expect(await scene.semantics.listing.count(scene.others.viewer, { include_retired: true })).toBe(3);
    await scene.bench.service.revoke(scene.team.root, 'pg', 'others');
    expect(await seenBy(scene.others.viewer, ids)).toEqual(ungranted);
    // Its home loses it with the grant, and finds it again with the next.
    await scene.bench.service.revoke(scene.team.root, 'pg', scene.team.workspace);
    expect(await seenBy(scene.team.viewer, ids)).toEqual(ungranted);
    await scene.bench.service.grant(scene.team.root, 'pg', scene.team.workspace);
    expect(await seenBy(scene.team.viewer, ids)).toEqual(home);
  }); // prettier-ignore

  it('and of what it names only what he may see: no number of a foreign version, no id of a foreign rule', async () => {
    await scene.bench.service.grant(scene.team.root, 'pg', 'others');
    const pipeline = await scene.pipelineOf(scene.team.workspaceId, 'sales/daily');
    await scene.db.database.execute(
      `INSERT INTO pipeline_versions (pipeline_id, version, status, body_json, body_hash, created_by)
       SELECT $1, 7, 'DRAFT', '{}', repeat('0', 64), $2`,
      [pipeline, scene.team.author.userId],
    );
    const rule = await record(RULE);
    const fact = await record({ source_pipeline_id: pipeline, source_version: 7, supersedes: rule.id });
    expect(fact).toMatchObject({ source_pipeline: { id: pipeline }, source_version: 7, supersedes: rule.id });
    const { facts } = await scene.semantics.service.list(scene.others.viewer, 'pg');
    expect(facts).toEqual([expect.objectContaining({ id: fact.id, source_version: null, supersedes: null })]);
    expect(facts[0]).not.toHaveProperty('source_pipeline');
    expect(JSON.stringify(facts)).not.toContain(rule.id);
    // A shared fact that was superseded is seen by both.
    const next = await record({ fact: 'total_cents holds tenths of cents', supersedes: fact.id });
    const [seen] = (await scene.semantics.service.list(scene.others.viewer, 'pg')).facts;
    expect(seen).toMatchObject({ id: next.id, supersedes: fact.id });
  });

  it.each(['retire', 'verify'] as const)(
    'a grant that is revoked while he acts ends the act: %s',
    async (act) => {
      await scene.bench.service.grant(scene.team.root, 'pg', 'others');
      const { id } = await record({}, scene.others.author);
      const { service } = scene.semantics;
      // The revocation is under way: the first look still sees the grant, the act waits for its row.
      const [begun, decided] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const revoking = scene.db.database.transaction(async (tx) => {
        await tx.execute(`DELETE FROM datasource_workspaces WHERE datasource_name = 'pg' AND workspace_id = $1`, [
          scene.others.workspaceId,
        ]);
        begun.resolve();
        await decided.promise;
      });
      await begun.promise;
      const acting = refusal(
        act === 'retire' ? service.retire(scene.others.author, id, { reason: 'over' }) : service.verify(scene.others.author, id),
      );
      await scene.untilBlocked();
      decided.resolve();
      await revoking;
      expect((await acting).code).toBe('semantics.not_found');
      const { facts } = await service.list(scene.team.viewer, 'pg', { include_retired: true });
      expect(facts.map(({ trust }) => trust)).toEqual(['asserted']);
      expect((await scene.audited()).map(({ event }) => event)).toEqual(['semantics.recorded']);
    },
  ); // prettier-ignore
});
