import { describe, expect, it } from '@jest/globals';

import type { Database } from '#libs/persistence';

import { factBody, SemanticsBench, semanticsScene } from './semantics.fixture.js';

/** Counts the statements that go through it and lets one of them fail, as a lost connection would. */
class FaultyDatabase {
  calls = 0;

  constructor(
    private readonly real: Database,
    private readonly failing: number,
  ) {}

  asDatabase(): Database {
    return this.#wrapped(this.real);
  }

  #wrapped<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (_target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        if (name === 'query' || name === 'execute') {
          return async (...args: unknown[]): Promise<unknown> => {
            this.calls += 1;
            if (this.calls === this.failing) throw new TypeError('the connection was lost');
            return await (member.apply(target, args) as Promise<unknown>);
          };
        }
        if (name === 'transaction') {
          return async (work: (tx: object) => Promise<unknown>, ...more: unknown[]): Promise<unknown> =>
            await (member.apply(target, [(tx: object) => work(this.#wrapped(tx)), ...more]) as Promise<unknown>);
        }
        return member.bind(target) as unknown;
      },
    });
  }
}

describe('facts while the metadata database fails at any one statement', () => {
  const scene = semanticsScene();

  const state = async (): Promise<unknown> => {
    const [facts, audit] = await Promise.all([
      scene.db.database.query('SELECT f::text AS row FROM learned_facts f ORDER BY id'),
      scene.audited(),
    ]);
    return { facts, audit };
  };

  /** Runs the act with its first, second, third … statement failing, until one run meets no failure. */
  const sweep = async (act: (bench: SemanticsBench) => Promise<unknown>): Promise<number> => {
    for (let failing = 1; failing < 60; failing += 1) {
      const before = await state();
      const faulty = new FaultyDatabase(scene.db.database, failing);
      const outcome = await act(new SemanticsBench(scene.bench, faulty.asDatabase())).then(
        () => 'done',
        () => 'refused',
      );
      if (faulty.calls < failing) {
        expect(outcome).toBe('done');
        return failing - 1;
      }
      expect([failing, outcome]).toEqual([failing, 'refused']);
      expect([failing, await state()]).toEqual([failing, before]);
    }
    throw new TypeError('the act never came to its end');
  };

  it('a record that is refused left nothing: no fact, no retired predecessor, no audit row', async () => {
    const old = await scene.semantics.service.record(scene.team.author, 'pg', factBody());
    const body = factBody({
      fact: 'total_cents holds whole euros',
      supersedes: old.id,
      evidence_sql: 'SELECT 1 AS one',
    });
    expect(await sweep((bench) => bench.service.record(scene.team.author, 'pg', body))).toBeGreaterThan(6);
    expect((await scene.audited()).map(({ event }) => event)).toEqual([
      'semantics.recorded',
      'semantics.retired',
      'semantics.recorded',
    ]);
  });

  it('a retirement and a confirmation happen whole or not at all', async () => {
    const { id } = await scene.semantics.service.record(scene.team.author, 'pg', factBody());
    expect(await sweep((bench) => bench.service.verify(scene.team.author, id))).toBeGreaterThan(2);
    expect(await sweep((bench) => bench.service.retire(scene.team.author, id, { reason: 'over' }))).toBeGreaterThan(2);
  });

  it('a listing is served without its mark, never half', async () => {
    await scene.onPostgres('CREATE TABLE doomed (a int)');
    const body = factBody({ fact: 'a counts grams here', refs: [{ table: 'doomed' }] });
    const { id } = await scene.semantics.service.record(scene.team.author, 'pg', body);
    await scene.onPostgres('DROP TABLE doomed');
    const faulty = new FaultyDatabase(scene.db.database, 2);
    const { catalog } = new SemanticsBench(scene.bench, faulty.asDatabase());
    expect((await catalog.tables(scene.team.viewer, 'pg')).tables.length).toBeGreaterThan(0);
    const trust = async (): Promise<unknown> =>
      await scene.db.database.query('SELECT trust FROM learned_facts WHERE id = $1', [id]);
    expect(await trust()).toEqual([{ trust: 'asserted' }]);
    await scene.semantics.catalog.tables(scene.team.viewer, 'pg');
    expect(await trust()).toEqual([{ trust: 'stale' }]);
  });
});
