import { describe, expect, it } from '@jest/globals';

import { Logger, type LogFields } from '#libs/kernel';

import { factBody, refusal, SemanticsBench, semanticsScene } from '../semantics.fixture.js';

class Remembering extends Logger {
  readonly warnings: string[] = [];
  debug(): void {}
  info(): void {}
  error(): void {}
  warn(message: string, _fields?: LogFields): void {
    this.warnings.push(message);
  }
  child(): Logger {
    return this;
  }
}

describe('facts beside the catalog', () => {
  const scene = semanticsScene();
  const record = (more = {}, name = 'pg', as = scene.team.author) =>
    scene.semantics.service.record(as, name, factBody(more));
  const columns = (table: string, name = 'pg', as = scene.team.viewer, namespace?: string[]) =>
    scene.semantics.catalog.columns(as, name, { table, namespace });
  const tables = (name = 'pg', as = scene.team.viewer, namespace?: string[]) =>
    scene.semantics.catalog.tables(as, name, { namespace });
  const factsAt = async (table: string, column: string, name = 'pg') =>
    (await columns(table, name)).find((each) => each.name === column)?.facts ?? [];
  const trustOf = async (id: string): Promise<string | undefined> =>
    (await scene.db.database.query<{ trust: string }>('SELECT trust FROM learned_facts WHERE id = $1', [id]))[0]?.trust;

  /** A schema of its own for one test, because the engines outlive it. */
  const inSchema = async (sql: string, work: () => Promise<void>): Promise<void> => {
    await scene.onPostgres(`CREATE SCHEMA lab; SET search_path = lab; ${sql}; RESET search_path`);
    try {
      await work();
    } finally {
      await scene.onPostgres('RESET search_path; DROP SCHEMA lab CASCADE');
    }
  };
  const T = 'CREATE TABLE t (a int, b text); CREATE TABLE u (x int)';
  const ref = (table: string, column?: string) => ({
    schema: 'lab',
    table,
    ...(column === undefined ? {} : { column }),
  });

  it('stand at their column, their table, their datasource, and nowhere else', async () => {
    const unit = await record();
    const grain = await record({ kind: 'grain', fact: 'one row per order placed', refs: [{ table: 'orders' }] });
    const window = await record({ kind: 'window', fact: 'kept for ninety days', refs: [{ table: 'orders' }] });
    const rule = await record({ scope: 'WORKSPACE', kind: 'exclusion', fact: 'leave test buyers out', refs: [] });
    const listed = (await tables()).tables;
    expect(listed.find(({ name }) => name === 'orders')?.facts?.map(({ id }) => id)).toEqual([window.id, grain.id]);
    expect(listed.find(({ name }) => name === 'customers')).not.toHaveProperty('facts');
    const at = await columns('orders');
    expect(at.flatMap(({ name, facts }) => (facts ?? []).map(({ id }) => [name, id]))).toEqual([
      ['total_cents', unit.id],
    ]);
    const whole = await scene.semantics.catalog.datasource(scene.team.viewer, 'pg');
    expect([whole.facts.map(({ id }) => id), whole.definitions.map(({ id }) => id)]).toEqual([[window.id], [rule.id]]);
    const all = await scene.semantics.catalog.datasources(scene.team.viewer, {}, {});
    expect(all.items.map(({ name, facts, definitions }) => [name, facts.length, definitions.length])).toEqual([
      ['duck', 0, 0],
      ['lite', 0, 0],
      ['pg', 1, 1],
    ]);
  });

  it('show what a reader may know: shape, origin, no query', async () => {
    await record({ evidence_sql: 'SELECT 1 AS one' });
    const [fact] = await factsAt('orders', 'total_cents');
    expect(fact).toEqual({
      id: expect.any(String),
      scope: 'DATASOURCE',
      kind: 'unit',
      fact: 'total_cents holds cents of euro',
      trust: 'observed',
      evidence_summary: 'one=1',
      recorded_via: 'session',
      recorded_at: expect.stringMatching(/^\d{4}-.*Z$/),
      from_this_workspace: true,
    });
  });

  it('a fact about data goes where the datasource is granted, a team’s rule stays at home', async () => {
    await record();
    await record({
      scope: 'WORKSPACE',
      kind: 'definition',
      fact: 'revenue means total_cents',
      refs: [{ table: 'orders' }],
    });
    await scene.bench.service.grant(scene.team.root, 'pg', 'others');
    const theirs = await columns('orders', 'pg', scene.others.viewer);
    expect(theirs.flatMap(({ facts }) => facts ?? [])).toEqual([
      expect.objectContaining({ kind: 'unit', from_this_workspace: false }),
    ]);
    const seen = (await tables('pg', scene.others.viewer)).tables.flatMap(({ facts }) => facts ?? []);
    expect(seen).toEqual([]);
    expect((await scene.semantics.catalog.datasource(scene.others.viewer, 'pg')).definitions).toEqual([]);
    await scene.bench.service.revoke(scene.team.root, 'pg', 'others');
    expect((await refusal(columns('orders', 'pg', scene.others.viewer))).code).toBe('datasource.not_found');
    expect((await refusal(scene.semantics.service.list(scene.others.viewer, 'pg'))).code).toBe('datasource.not_found');
  });

  it('outlives the grant of the workspace that recorded it', async () => {
    await scene.bench.service.grant(scene.team.root, 'pg', 'others');
    const fact = await record({}, 'pg', scene.others.author);
    await scene.bench.service.revoke(scene.team.root, 'pg', 'others');
    expect(await factsAt('orders', 'total_cents')).toEqual([
      expect.objectContaining({ id: fact.id, from_this_workspace: false }),
    ]);
  });

  it('two that say different things about the same refs are both flagged; without refs nothing is', async () => {
    const one = await record();
    const two = await record({ fact: 'total_cents holds tenths of cents' });
    await record({ kind: 'format', fact: 'total_cents is never null' });
    const rules = { scope: 'WORKSPACE', kind: 'preference', refs: [] };
    await record({ ...rules, fact: 'round up to euros' });
    await record({ ...rules, fact: 'round down to euros' });
    const flagged = (await factsAt('orders', 'total_cents')).filter(({ conflict }) => conflict === true);
    expect(flagged.map(({ id }) => id).sort()).toEqual([one.id, two.id].sort());
    const { definitions } = await scene.semantics.catalog.datasource(scene.team.viewer, 'pg');
    expect(definitions.map(({ conflict }) => conflict)).toEqual([undefined, undefined]);
    await scene.semantics.service.retire(scene.team.author, two.id, { reason: 'wrong' });
    expect((await factsAt('orders', 'total_cents')).filter(({ conflict }) => conflict === true)).toEqual([]);
  });

  it('change of a column’s table: marked for review at the next read of its columns, once, for everybody', async () => {
    await inSchema(T, async () => {
      const fact = await record({ kind: 'unit', fact: 'lab t.a counts grams', refs: [ref('t', 'a')] });
      expect(await factsAt2('t', 'a')).toEqual([expect.objectContaining({ trust: 'asserted' })]);
      await scene.onPostgres('ALTER TABLE lab.t ALTER b TYPE int USING 1');
      expect(await factsAt2('t', 'a')).toEqual([
        expect.objectContaining({ trust: 'needs_review', drift: 'table columns changed since this was recorded' }),
      ]);
      expect(await trustOf(fact.id)).toBe('needs_review');
      await scene.onPostgres('ALTER TABLE lab.t ALTER b TYPE text');
      expect((await factsAt2('t', 'a'))[0]).toMatchObject({ trust: 'needs_review' });
    });
  });

  it('loss of its column: stale, shown at the table from then on, and a restored column changes nothing', async () => {
    await inSchema(T, async () => {
      const fact = await record({ kind: 'unit', fact: 'lab t.a counts grams', refs: [ref('t', 'a')] });
      await scene.onPostgres('ALTER TABLE lab.t DROP a');
      await columns('t', 'pg', scene.team.viewer, ['lab']);
      expect(await trustOf(fact.id)).toBe('stale');
      const shown = (await tables('pg', scene.team.viewer, ['lab'])).tables.find(({ name }) => name === 't');
      expect(shown?.facts).toEqual([
        expect.objectContaining({ id: fact.id, trust: 'stale', drift: 'column a no longer exists' }),
      ]);
      await scene.onPostgres('ALTER TABLE lab.t ADD a int');
      expect((await factsAt2('t', 'a'))[0]).toMatchObject({ id: fact.id, trust: 'stale' });
    });
  });

  it('loss of its table: stale after a complete listing, not after one of a namespace', async () => {
    await inSchema(T, async () => {
      const both = await record({ kind: 'join', fact: 'lab t.a joins u.x', refs: [ref('t'), ref('u')] });
      await scene.onPostgres('DROP TABLE lab.u');
      await tables('pg', scene.team.viewer, ['lab']);
      expect(await trustOf(both.id)).toBe('asserted');
      const listed = (await tables()).tables.find(({ name, schema }) => name === 't' && schema === 'lab');
      expect(listed?.facts).toEqual([
        expect.objectContaining({ id: both.id, trust: 'stale', drift: 'table lab.u no longer exists' }),
      ]);
      expect(await trustOf(both.id)).toBe('stale');
    });
  });

  it('what the login may only not see is no drift', async () => {
    await inSchema(T, async () => {
      const fact = await record({ kind: 'unit', fact: 'lab t.a counts grams', refs: [ref('t', 'a')] });
      await scene.onPostgres('REVOKE SELECT ON lab.t FROM CURRENT_USER; GRANT SELECT (b) ON lab.t TO CURRENT_USER');
      await columns('t', 'pg', scene.team.viewer, ['lab']);
      await scene.onPostgres('REVOKE USAGE ON SCHEMA lab FROM CURRENT_USER');
      expect((await tables()).tables.some(({ schema }) => schema === 'lab')).toBe(false);
      expect(await trustOf(fact.id)).toBe('asserted');
      await scene.onPostgres('GRANT USAGE ON SCHEMA lab TO CURRENT_USER');
    });
  });

  it('a schema that is no longer shown, because the settings say so, loses no facts', async () => {
    await scene.registerPostgres('inside', { introspection_include_schemas: ['pg_catalog'] });
    const fact = await record(
      {
        kind: 'caveat',
        fact: 'counts are estimates here',
        refs: [{ schema: 'pg_catalog', table: 'pg_class', column: 'reltuples' }],
      },
      'inside',
    );
    const view = await scene.bench.service.read(scene.team.root, 'inside');
    await scene.bench.service.update(scene.team.root, 'inside', {
      ...view,
      introspection_include_schemas: [],
    } as never);
    await tables('inside');
    expect(await trustOf(fact.id)).toBe('asserted');
  });

  it('a read that fails or shows nothing marks nothing', async () => {
    const fact = await record();
    await scene.onPostgres('ALTER TABLE orders RENAME TO orders_away');
    expect((await refusal(columns('orders'))).code).toBe('datasource.table_not_found');
    expect(await trustOf(fact.id)).toBe('asserted');
    await scene.onPostgres('ALTER TABLE orders_away RENAME TO orders');
    const gaveUp = AbortSignal.abort();
    await refusal(scene.semantics.catalog.tables(scene.team.viewer, 'pg', {}, gaveUp));
    expect(await trustOf(fact.id)).toBe('asserted');
  });

  it('a mark that cannot be written is logged, and served all the same', async () => {
    await inSchema(T, async () => {
      await record({ kind: 'unit', fact: 'lab t.a counts grams', refs: [ref('t', 'a')] });
      await scene.onPostgres('ALTER TABLE lab.t DROP a');
      await scene.db.database.execute(
        `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$`,
      );
      await scene.db.database.execute(
        'CREATE TRIGGER refuse BEFORE UPDATE ON learned_facts FOR EACH ROW EXECUTE FUNCTION refuse()',
      );
      const log = new Remembering();
      const { catalog } = new SemanticsBench(scene.bench, scene.db.database, log);
      await catalog.columns(scene.team.viewer, 'pg', { table: 't', namespace: ['lab'] });
      expect(log.warnings).toEqual(['semantics.mark_not_written']);
    });
  });

  it('a mark never undoes what a person confirmed after the read began', async () => {
    await inSchema(T, async () => {
      const fact = await record({ kind: 'unit', fact: 'lab t.a counts grams', refs: [ref('t', 'a')] });
      await scene.onPostgres('ALTER TABLE lab.t ALTER b TYPE int USING 1');
      const before = (await scene.semantics.listing.list(scene.team.viewer, 'pg', {})).facts;
      expect((await scene.semantics.service.verify(scene.team.author, fact.id)).trust).toBe('verified');
      await scene.semantics.marks.byColumns(
        { workspaceId: scene.team.workspaceId, datasource: 'pg', gaveUp: undefined },
        before,
        {
          table: { namespace: ['lab'], name: 't' },
          key: 'lab.t',
          columns: new Set(['a', 'b']),
          digest: 'f'.repeat(64),
        },
      );
      expect(await trustOf(fact.id)).toBe('verified');
    });
  });

  it('fifty facts stand beside one object, and the cut is told', async () => {
    const { userId, workspace } = scene.team.author;
    await scene.db.database.execute(
      `INSERT INTO learned_facts (id, scope, datasource_name, kind, fact, refs_json, trust, schema_fingerprint, recorded_by, recorded_via, recorded_in)
       SELECT gen_random_uuid(), 'DATASOURCE', 'pg', 'caveat', 'caveat number ' || i, '[{"schema":"public","table":"orders"}]', 'asserted', '', $1, 'session', $2
         FROM generate_series(1, 51) i`,
      [userId, workspace?.id],
    );
    const orders = (await tables()).tables.find(({ name }) => name === 'orders');
    expect([orders?.facts?.length, orders?.facts_truncated]).toEqual([50, true]);
  });

  it('reads the same on engines without schemas and with one', async () => {
    for (const name of ['lite', 'duck']) {
      const fact = await record({}, name);
      expect(await factsAt('orders', 'total_cents', name)).toEqual([expect.objectContaining({ id: fact.id })]);
      expect((await tables(name)).truncated).toBe(false);
      expect(await trustOf(fact.id)).toBe('asserted');
    }
    const gone = await record({ fact: 'empty_one is never filled', refs: [{ table: 'empty_one' }] }, 'lite');
    scene.onSqlite('DROP TABLE empty_one');
    await tables('lite');
    scene.onSqlite('CREATE TABLE empty_one (a INTEGER)');
    expect(await trustOf(gone.id)).toBe('stale');
  });

  async function factsAt2(table: string, column: string) {
    return (await columns(table, 'pg', scene.team.viewer, ['lab'])).find((each) => each.name === column)?.facts ?? [];
  }
});
