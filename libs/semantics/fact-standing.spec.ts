import { describe, expect, it } from '@jest/globals';

import { newId } from '#libs/kernel';

import { factBody, refusal, semanticsScene } from './semantics.fixture.js';

describe('the standing of a fact', () => {
  const scene = semanticsScene();
  const record = (more = {}, as = scene.team.author) => scene.semantics.service.record(as, 'pg', factBody(more));
  const retire = (id: string, as = scene.team.author, reason: unknown = 'no longer so') =>
    scene.semantics.service.retire(as, id, { reason });
  const verify = (id: string, as = scene.team.author) => scene.semantics.service.verify(as, id);

  it('is ended with a reason; ending it again changes nothing and is no error', async () => {
    const { id } = await record();
    const first = await retire(id);
    expect(first).toMatchObject({ id, trust: 'retired', retired_reason: 'no longer so' });
    expect(await retire(id, scene.team.author, 'another reason')).toEqual(first);
    expect((await scene.audited()).filter(({ event }) => event === 'semantics.retired')).toHaveLength(1);
  });

  it('is ended once by two at the same moment; both see the same reason', async () => {
    const { id } = await record();
    const answers = await Promise.all(
      ['one', 'two', 'three', 'four'].map((reason) => retire(id, scene.team.author, reason)),
    );
    expect(new Set(answers.map(({ retired_reason }) => retired_reason)).size).toBe(1);
    expect((await scene.audited()).filter(({ event }) => event === 'semantics.retired')).toHaveLength(1);
  });

  it.each([null, '', '   ', 7, 'x'.repeat(501), 'hidden \u202E word', 'nul \u0000'])(
    'is not ended for the reason %j',
    async (reason) => {
      const { id } = await record();
      expect(await refusal(retire(id, scene.team.author, reason))).toMatchObject({
        code: 'semantics.fact_invalid',
        details: { field: 'reason' },
      });
    },
  );

  it('is confirmed by a person against the tables as they are now', async () => {
    await scene.onPostgres('CREATE TABLE shelf (a int)');
    const { id } = await record({ fact: 'a counts grams here', refs: [{ table: 'shelf', column: 'a' }] });
    await scene.onPostgres('ALTER TABLE shelf ADD b int');
    const confirmed = await verify(id);
    expect(confirmed).toMatchObject({
      trust: 'verified',
      verified_by: scene.team.author.userId,
      verified_at: expect.any(String),
    });
    const at = await scene.semantics.catalog.columns(scene.team.viewer, 'pg', { table: 'shelf' });
    expect(at.find(({ name }) => name === 'a')?.facts).toEqual([expect.objectContaining({ trust: 'verified' })]);
    await scene.onPostgres('ALTER TABLE shelf DROP a');
    expect(await refusal(verify(id))).toMatchObject({ code: 'semantics.ref_unresolved' });
    await scene.onPostgres('DROP TABLE shelf');
    expect((await refusal(verify(id))).code).toBe('semantics.ref_unresolved');
    expect((await scene.audited()).map(({ event }) => event)).toEqual(['semantics.recorded', 'semantics.verified']);
  });

  it('a rule without refs is confirmed without a look at the database', async () => {
    const { id } = await record({ scope: 'WORKSPACE', kind: 'definition', fact: 'revenue is after tax', refs: [] });
    expect((await verify(id)).trust).toBe('verified');
  });

  it('is confirmed in a session only, never by a key, never once it is over', async () => {
    const { id } = await record();
    expect((await refusal(verify(id, scene.team.key('author')))).code).toBe('auth.session.required');
    expect((await refusal(verify(id, scene.team.viewer))).code).toBe('auth.role_required');
    await retire(id);
    expect((await refusal(verify(id))).code).toBe('semantics.not_found');
  });

  it('of two that confirm and end it at the same moment, the end stands', async () => {
    const { id } = await record();
    await Promise.allSettled([verify(id), retire(id), verify(id)]);
    const { facts } = await scene.semantics.service.list(scene.team.viewer, 'pg', { include_retired: true });
    expect(facts).toEqual([expect.objectContaining({ id, trust: 'retired' })]);
  });

  it('recorded elsewhere, it is judged by administrators; unseen, it is not there', async () => {
    await scene.bench.service.grant(scene.team.root, 'pg', 'others');
    const { id } = await record({}, scene.others.author);
    const rule = await record(
      { scope: 'WORKSPACE', kind: 'definition', fact: 'revenue is after tax', refs: [] },
      scene.others.author,
    );
    for (const act of [retire, verify]) {
      expect((await refusal(act(id))).code).toBe('auth.role_required');
      expect((await refusal(act(rule.id, scene.team.admin))).code).toBe('semantics.not_found');
      expect((await refusal(act(newId()))).code).toBe('semantics.not_found');
      expect((await refusal(act('../../etc/passwd'))).code).toBe('semantics.not_found');
    }
    expect((await verify(id, scene.team.admin)).trust).toBe('verified');
    expect((await retire(id, scene.team.admin)).trust).toBe('retired');
  });

  it('is listed newest first, by table, scope and time; retired ones when asked for', async () => {
    const first = await record();
    const second = await record({
      kind: 'join',
      fact: 'joins customers by id',
      refs: [{ table: 'orders', column: 'customer_id' }],
    });
    const rule = await record({ scope: 'WORKSPACE', kind: 'definition', fact: 'revenue is after tax', refs: [] });
    await retire(first.id);
    const ids = async (query = {}) =>
      (await scene.semantics.service.list(scene.team.viewer, 'pg', query)).facts.map(({ id }) => id);
    expect(await ids()).toEqual([rule.id, second.id]);
    expect(await ids({ include_retired: true })).toEqual([rule.id, second.id, first.id]);
    expect(await ids({ table: 'customers' })).toEqual([second.id]);
    expect(await ids({ table: 'public.orders' })).toEqual([second.id]);
    expect(await ids({ table: "orders' OR true --" })).toEqual([]);
    expect(await ids({ scope: 'WORKSPACE' })).toEqual([rule.id]);
    expect(await ids({ since: '2999-01-01T00:00:00+02:00' })).toEqual([]);
    expect(await ids({ since: '1999-12-31T23:59:59.999999Z' })).toHaveLength(2);
    for (const since of ['yesterday', '2026-02-30T00:00:00Z', '2026-01-01', '0000-01-01T00:00:00Z'])
      expect(await refusal(scene.semantics.service.list(scene.team.viewer, 'pg', { since }))).toMatchObject({
        details: { field: 'since' },
      });
    expect(
      (await refusal(scene.semantics.service.list(scene.team.viewer, 'pg', { scope: 'ALL' }))).details['field'],
    ).toBe('scope');
  });

  it('is listed five hundred at a time, and the cut is told', async () => {
    const { userId, workspace } = scene.team.author;
    await scene.db.database.execute(
      `INSERT INTO learned_facts (id, scope, datasource_name, kind, fact, refs_json, trust, schema_fingerprint, recorded_by, recorded_via, recorded_in)
       SELECT gen_random_uuid(), 'DATASOURCE', 'pg', 'caveat', 'caveat number ' || i, '[{"table":"orders"}]', 'asserted', '', $1, 'session', $2
         FROM generate_series(1, 501) i`,
      [userId, workspace?.id],
    );
    const { facts, truncated } = await scene.semantics.service.list(scene.team.viewer, 'pg');
    expect([facts.length, truncated, facts.every(({ conflict }) => conflict === true)]).toEqual([500, true, true]);
  });

  it('goes page by page both ways without a gap or a repeat, also of rows of one moment', async () => {
    const { userId, workspace } = scene.team.author;
    await scene.db.database.execute(
      `INSERT INTO learned_facts (id, scope, datasource_name, kind, fact, refs_json, trust, schema_fingerprint, recorded_by, recorded_via, recorded_in, recorded_at)
       SELECT gen_random_uuid(), 'DATASOURCE', 'pg', 'caveat', 'caveat number ' || i, '[{"table":"orders"}]', 'asserted', '', $1, 'session', $2, '2026-01-01T00:00:00Z'
         FROM generate_series(1, 7) i`,
      [userId, workspace?.id],
    );
    const { listing } = scene.semantics;
    const cursor = ({ recordedAt, id }: { recordedAt: string; id: string }): string => `${recordedAt}~${id}`;
    const seen: string[] = [];
    for (let after: string | undefined, more = true; more;) {
      const page = await listing.listKeyset(
        scene.team.viewer,
        {},
        { first: 3, ...(after === undefined ? {} : { after }) },
      );
      seen.push(...page.items.map(({ id }) => id));
      more = page.hasNext;
      after = page.items.map(cursor).at(-1);
    }
    expect(new Set(seen).size).toBe(7);
    const last = await listing.listKeyset(scene.team.viewer, {}, { last: 2 });
    expect(last.items.map(({ id }) => id)).toEqual(seen.slice(-2));
    const before = await listing.listKeyset(scene.team.viewer, {}, { last: 2, before: cursor(last.items[0]!) });
    expect(before.items.map(({ id }) => id)).toEqual(seen.slice(-4, -2));
    const pages = await listing.pages(scene.team.viewer, ['pg', 'lite'], {}, { first: 2 });
    expect([...pages].map(([name, { items, hasNext }]) => [name, items.length, hasNext])).toEqual([['pg', 2, true]]);
    expect(await listing.count(scene.others.viewer, {})).toBe(0);
    expect((await refusal(listing.listKeyset(scene.team.viewer, {}, { after: 'x~y' }))).code).toBe(
      'graphql.cursor_invalid',
    );
  });
});
