import { describe, expect, it, jest } from '@jest/globals';

import { newId, readJson, type JsonObject } from '#libs/kernel';

import { ENGINES, factBody, refusal, semanticsScene } from '../semantics.fixture.js';

describe('recording a fact', () => {
  const scene = semanticsScene();
  const record = (more = {}, name = 'pg', as = scene.team.author) =>
    scene.semantics.service.record(as, name, factBody(more));

  describe.each(ENGINES)('on %s', (name) => {
    const schema = { pg: 'public', duck: 'main', lite: undefined }[name];

    it('keeps it with its tables as they are, observed when a query bears it out', async () => {
      const evidence_sql = 'SELECT min(total_cents) AS least, max(total_cents) AS most FROM orders';
      const fact = await record({ evidence_sql }, name);
      expect(fact).toMatchObject({
        datasource: name,
        scope: 'DATASOURCE',
        kind: 'unit',
        fact: 'total_cents holds cents of euro',
        refs: [{ ...(schema === undefined ? {} : { schema }), table: 'orders', column: 'total_cents' }],
        trust: 'observed',
        evidence_sql,
        evidence_summary: 'least=100, most=6000',
        recorded_via: 'session',
        recorded_by: scene.team.author.userId,
        from_this_workspace: true,
        refs_added: [],
      });
      expect(await record({ fact: 'total_cents are never negative' }, name)).toMatchObject({ trust: 'asserted' });
    });

    it('refuses a ref that the database does not hold, and says which was meant', async () => {
      const ref = (more: object) => refusal(record({ refs: [more] }, name));
      expect(await ref({ table: 'ordres' })).toMatchObject({
        code: 'semantics.ref_unresolved',
        details: { ref: { table: 'ordres' }, suggestion: 'orders' },
      });
      expect(await ref({ table: 'orders', column: 'total_cent' })).toMatchObject({
        code: 'semantics.ref_unresolved',
        details: { suggestion: 'total_cents' },
      });
      expect((await ref({ table: 'orders', schema: 'elsewhere' })).code).toBe('semantics.ref_unresolved');
      expect((await ref({ table: 'ORDERS' })).code).toBe('semantics.ref_unresolved');
      expect(await scene.stored()).toBe(0);
    });

    it('refuses evidence that is no plain read, and keeps nothing of it', async () => {
      for (const evidence_sql of [
        'DELETE FROM orders',
        'SELECT 1; SELECT 2',
        'SELECT * INTO x FROM orders',
        'SELECT :id',
        '',
      ]) {
        const refused = await refusal(record({ evidence_sql }, name));
        expect([evidence_sql, refused.code]).toEqual([evidence_sql, 'semantics.evidence_refused']);
      }
      expect(await refusal(record({ evidence_sql: 'SELECT nothing_here FROM orders' }, name))).toMatchObject({
        code: 'semantics.evidence_failed',
        details: { reason: 'query_failed' },
      });
      expect(await scene.stored()).toBe(0);
    });
  });

  it('adds a table that the text names and refuses a word that nearly names one', async () => {
    const fact = 'customer_id joins customers by id';
    const joined = await record({ kind: 'join', fact, refs: [{ table: 'orders', column: 'customer_id' }] });
    expect(joined.refs_added).toEqual([{ schema: 'public', table: 'customers' }]);
    expect(joined.refs).toEqual([
      { schema: 'public', table: 'customers' },
      { schema: 'public', table: 'orders', column: 'customer_id' },
    ]);
    const nearly = await refusal(record({ fact: 'see empty_ones for the rest', refs: [{ table: 'orders' }] }));
    expect(nearly).toMatchObject({
      code: 'semantics.ref_mismatch',
      details: { token: 'empty_ones', suggestion: 'empty_one' },
    });
  });

  it('judges kind and scope first, then the form, each by its field', async () => {
    expect(await refusal(record({ kind: 'row_count', fact: '' }))).toMatchObject({ code: 'semantics.kind_invalid' });
    expect(await refusal(record({ kind: 'definition' }))).toMatchObject({
      code: 'semantics.kind_invalid',
      details: { kind: 'definition', scope: 'WORKSPACE' },
    });
    const invalid = async (more: object) => (await refusal(record(more))).details['field'];
    expect(await invalid({ fact: '  short ' })).toBe('fact');
    expect(await invalid({ fact: 'x'.repeat(1001) })).toBe('fact');
    expect(await invalid({ fact: 'hidden \u202E direction' })).toBe('fact');
    expect(await invalid({ fact: 12 })).toBe('fact');
    expect(await invalid({ evidence_summary: 's'.repeat(301) })).toBe('evidence_summary');
    expect(await invalid({ refs: [] })).toBe('refs');
    expect(await invalid({ refs: 'orders' })).toBe('refs');
    expect(await invalid({ refs: Array.from({ length: 21 }, () => ({ table: 'orders' })) })).toBe('refs');
    expect(await invalid({ refs: [{ column: 'id' }] })).toBe('refs.0.table');
    expect(await invalid({ refs: [{ table: 'orders', alias: 'o' }] })).toBe('refs.0');
    expect(await invalid({ refs: [{ table: 'x'.repeat(256) }] })).toBe('refs.0.table');
    expect(await invalid({ source_version: 1 })).toBe('source_version');
    expect(await invalid({ trust: 'verified' })).toBe('trust');
    expect(await scene.stored()).toBe(0);
    expect(await scene.audited()).toEqual([]);
  });

  it('holds 8 and 1000 characters as the database counts them, in any script', async () => {
    expect((await record({ fact: '😀'.repeat(8) })).fact).toBe('😀'.repeat(8));
    expect((await record({ fact: 'é'.repeat(1000) })).fact).toHaveLength(1000);
  });

  it('takes the same fact once: by refs in any order, by text in any spelling of the same letters', async () => {
    const refs = [{ table: 'orders', column: 'id' }, { table: 'customers' }];
    const first = await record({ kind: 'join', fact: 'Café rows join', refs });
    const again = {
      kind: 'join',
      fact: ' Cafe\u0301 rows join',
      refs: [{ table: 'customers', schema: 'public' }, ...refs.toReversed()],
    };
    expect(await refusal(record(again))).toMatchObject({
      code: 'semantics.duplicate',
      details: { existing_id: first.id },
    });
    expect((await record({ ...again, kind: 'caveat' })).id).not.toBe(first.id);
    await scene.semantics.service.retire(scene.team.author, first.id, { reason: 'wrong' });
    expect((await record(again)).trust).toBe('asserted');
  });

  it('takes one of twelve that come at the same moment', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => record()));
    const codes = outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? 'recorded' : (outcome.reason as { code: string }).code,
    );
    expect(codes.filter((code) => code === 'recorded')).toHaveLength(1);
    expect(codes.filter((code) => code === 'semantics.duplicate')).toHaveLength(11);
    expect(await scene.stored()).toBe(1);
    expect(await scene.audited()).toHaveLength(1);
  });

  it('a team’s own rule may name nothing, stays asserted, and is the same fact only at home', async () => {
    const rule = {
      scope: 'WORKSPACE',
      kind: 'definition',
      fact: 'an active customer bought this year',
      refs: undefined,
    };
    expect(await record({ ...rule, evidence_sql: 'SELECT 1 AS one' })).toMatchObject({ refs: [], trust: 'asserted' });
    expect((await refusal(record(rule))).code).toBe('semantics.duplicate');
    await scene.bench.service.grant(scene.team.root, 'pg', 'others');
    expect(await record(rule, 'pg', scene.others.author)).toMatchObject({ trust: 'asserted' });
  });

  it('supersedes: the old one is retired with the new one’s row, or neither is', async () => {
    const old = await record();
    const next = await record({ fact: 'total_cents holds tenths of cents', supersedes: old.id });
    expect(next.supersedes).toBe(old.id);
    const { facts } = await scene.semantics.service.list(scene.team.viewer, 'pg', { include_retired: true });
    expect(facts.map(({ id, trust, retired_reason }) => [id, trust, retired_reason])).toEqual([
      [next.id, 'asserted', null],
      [old.id, 'retired', 'superseded'],
    ]);
    for (const supersedes of [old.id, newId(), 'no-id']) {
      const refused = await refusal(record({ fact: 'total_cents holds dollars now', supersedes }));
      expect(refused.code).toBe('semantics.not_found');
    }
    expect(await scene.stored()).toBe(2);
    expect((await scene.audited()).map(({ event, details }) => [event, details['reason']])).toEqual([
      ['semantics.recorded', undefined],
      ['semantics.retired', 'superseded'],
      ['semantics.recorded', undefined],
    ]);
  });

  it('of two that supersede the same one at once, one wins', async () => {
    const old = await record();
    const attempts = ['first reading of it', 'second reading of it'].map((fact) =>
      record({ fact, supersedes: old.id }),
    );
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await scene.stored()).toBe(2);
  });

  it('another workspace’s fact is superseded by an administrator only', async () => {
    await scene.bench.service.grant(scene.team.root, 'pg', 'others');
    const foreign = await record({}, 'pg', scene.others.author);
    const more = { fact: 'total_cents holds whole euros', supersedes: foreign.id };
    expect((await refusal(record(more))).code).toBe('auth.role_required');
    expect((await record(more, 'pg', scene.team.admin)).supersedes).toBe(foreign.id);
  });

  it('names the pipeline it was learned from, if the workspace holds it; a purge only lets go of it', async () => {
    const own = await scene.pipelineOf(scene.team.workspaceId, 'nightly');
    const foreign = await scene.pipelineOf(scene.others.workspaceId, 'theirs');
    const fact = await record({ source_pipeline_id: own });
    expect(fact.source_pipeline).toEqual({ id: own, name: 'nightly' });
    for (const source_pipeline_id of [foreign, newId(), 'x'])
      expect((await refusal(record({ fact: 'something else here', source_pipeline_id }))).code).toBe(
        'pipeline.execution.not_found',
      );
    expect(
      (await refusal(record({ fact: 'something else here', source_pipeline_id: own, source_version: 7 }))).code,
    ).toBe('pipeline.execution.not_found');
    await scene.bench.service.grant(scene.team.root, 'pg', 'others');
    const seen = await scene.semantics.service.list(scene.others.viewer, 'pg');
    expect(seen.facts.map((each) => [each.id, each.source_pipeline, each.from_this_workspace])).toEqual([
      [fact.id, undefined, false],
    ]);
    await scene.db.database.execute('DELETE FROM pipelines WHERE id = $1', [own]);
    const { facts } = await scene.semantics.service.list(scene.team.viewer, 'pg');
    expect(facts.map(({ id, source_pipeline }) => [id, source_pipeline])).toEqual([[fact.id, undefined]]);
  });

  it('evidence is five rows, cut at 300 characters, and a summary of one’s own wins', async () => {
    const run = jest.spyOn(scene.bench.reads, 'run');
    const many = await record({ evidence_sql: 'SELECT id, placed_on FROM orders ORDER BY id' });
    // Nobody waits for evidence longer than 10 s, whatever a probe may take.
    expect(run.mock.calls.map(([, , tool, { timeoutMs, maxRows }]) => [tool, timeoutMs, maxRows])).toEqual([
      ['evidence', 10_000, 5],
    ]);
    run.mockRestore();
    expect(many.evidence_summary).toBe(
      'id=1, placed_on=2026-01-02 | id=2, placed_on=2026-01-03 | id=3, placed_on=2026-01-04 | id=4, placed_on=2026-01-05 | id=5, placed_on=2026-01-06',
    );
    const wide = await record({
      fact: 'wide evidence here',
      evidence_sql: "SELECT repeat('😀', 400) AS x, chr(8238) AS y",
    });
    expect([...(wide.evidence_summary ?? '')]).toHaveLength(300);
    const own = await record({
      fact: 'own words about it',
      evidence_sql: 'SELECT 1 AS a',
      evidence_summary: ' seen once ',
    });
    expect(own.evidence_summary).toBe('seen once');
    const none = await record({ fact: 'no rows, no words', evidence_sql: 'SELECT 1 AS a WHERE false' });
    expect([none.evidence_summary ?? null, none.trust]).toEqual([null, 'observed']);
  });

  it('evidence that takes too long fails, and a person’s slots hold for it too', async () => {
    await scene.registerPostgres('quick', readJson('{"query_timeout_seconds": 1}') as JsonObject);
    const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';
    expect(await refusal(record({ evidence_sql: endless }, 'quick'))).toMatchObject({
      code: 'semantics.evidence_failed',
      details: { reason: 'timeout' },
    });
    expect(await scene.stored()).toBe(0);
  });

  it('evidence runs read-only: what a function would write is refused by the database itself', async () => {
    await scene.onPostgres(`CREATE FUNCTION sneaky() RETURNS int LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO empty_one VALUES (1); RETURN 1; END $$`);
    expect((await refusal(record({ evidence_sql: 'SELECT sneaky() AS s' }))).code).toBe('semantics.evidence_failed');
    expect(await scene.onPostgres('SELECT count(*)::text FROM empty_one')).toEqual([['0']]);
    await scene.onPostgres('DROP FUNCTION sneaky');
  });

  it('neither the text, nor the query, nor what it returned is in the audit trail', async () => {
    const evidence_sql = "SELECT 'planted-secret' AS told";
    await record({ fact: 'planted-fact about total_cents', evidence_sql });
    await refusal(
      record({ fact: 'planted-fact the second', evidence_sql: "SELECT 'planted-secret' FROM nowhere_at_all" }),
    );
    const rows = await scene.db.database.query<{ details_json: string }>('SELECT details_json FROM audit_log');
    const all = rows.map(({ details_json }) => details_json).join('\n');
    expect(all).not.toMatch(/planted|told|nowhere_at_all/);
    expect((await scene.audited())[0]).toMatchObject({
      event: 'semantics.recorded',
      details: {
        kind: 'unit',
        scope: 'DATASOURCE',
        datasource: 'pg',
        refs: ['public.orders.total_cents'],
        trust: 'observed',
        via: 'session',
      },
    });
    expect(all).toMatch(/"tool": ?"evidence"/);
  });

  it('is for authors who see the datasource; a key says so, and so does an agent’s', async () => {
    const as = (who: typeof scene.team.author) => refusal(record({}, 'pg', who));
    expect((await as(scene.team.viewer)).code).toBe('auth.role_required');
    expect((await as(scene.team.key('execute'))).code).toBe('auth.scope.insufficient');
    expect((await as(scene.others.author)).code).toBe('datasource.not_found');
    expect((await record({}, 'pg', scene.team.key('author'))).recorded_via).toBe('api_key');
    const agent = { ...scene.team.key('author'), surface: 'mcp' as const };
    expect((await record({ fact: 'by an agent this time' }, 'pg', agent)).recorded_via).toBe('mcp');
  });

  it('a grant revoked while its checks run keeps it out', async () => {
    await scene.bench.service.grant(scene.team.root, 'pg', 'others');
    const waiting = scene.onPostgres('BEGIN; LOCK TABLE orders IN ACCESS EXCLUSIVE MODE');
    await waiting;
    const recording = refusal(record({ evidence_sql: 'SELECT count(*) AS n FROM orders' }, 'pg', scene.others.author));
    while ((scene.bench.pools.leased('pg') ?? 0) === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await scene.bench.service.revoke(scene.team.root, 'pg', 'others');
    await scene.onPostgres('COMMIT');
    expect((await recording).code).toBe('datasource.not_found');
    expect(await scene.stored()).toBe(0);
  });

  it('among more than 2,000 tables words are not compared, and refs resolve all the same', async () => {
    await scene.onPostgres(
      `CREATE SCHEMA many; DO $$ BEGIN FOR i IN 1..2001 LOOP EXECUTE format('CREATE TABLE many.t%s ()', i); END LOOP; END $$`,
    );
    const fact = await record({
      fact: 'customer_id joins customers; empty_ones is no matter',
      refs: [{ table: 'orders' }],
    });
    await scene.onPostgres('DROP SCHEMA many CASCADE').catch(() => undefined);
    expect(fact).toMatchObject({ refs: [{ schema: 'public', table: 'orders' }], refs_added: [] });
  });
});
