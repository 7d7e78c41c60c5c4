import { describe, expect, it } from '@jest/globals';

import { newId } from '#libs/kernel';

import { FactRepository } from './fact.repository.js';
import { FACT_EVENTS, FACT_TRUSTS, trustAfter, type FactEvent, type FactTrust } from './rules/fact-trust.js';
import { semanticsScene } from './semantics.fixture.js';

describe('the trust of a stored fact', () => {
  const scene = semanticsScene();
  const facts = new FactRepository();

  const stored = async (trust: FactTrust): Promise<string> => {
    const id = newId();
    const { userId, workspaceId } = { userId: scene.team.author.userId, workspaceId: scene.team.workspaceId };
    await scene.db.database.execute(
      `INSERT INTO learned_facts (id, scope, datasource_name, kind, fact, refs_json, trust, schema_fingerprint, recorded_by,
                                  recorded_via, recorded_in, retired_at, retired_reason)
       VALUES ($1, 'DATASOURCE', 'pg', 'unit', 'amounts are in cents', '[{"table":"orders"}]', $2, 'orders=f', $3, 'session', $4,
               CASE WHEN $2 = 'retired' THEN NOW() END, CASE WHEN $2 = 'retired' THEN 'over' END)`,
      [id, trust, userId, workspaceId],
    );
    return id;
  };

  const happens = async (event: FactEvent, id: string, fingerprint = 'orders=f'): Promise<void> => {
    const { database } = scene.db;
    await database.transaction(async (tx) => {
      if (event === 'retired') await facts.retire(tx, id, 'no longer so');
      else if (event === 'verified') await facts.verify(tx, id, scene.team.author.userId, 'orders=now');
      else await facts.mark(tx, event, [{ id, fingerprint }]);
    });
  };

  const rowOf = async (id: string): Promise<Record<string, unknown>> => {
    const [row] = await scene.db.database.query<Record<string, unknown>>(
      `SELECT trust, schema_fingerprint, retired_reason, verified_by, retired_at IS NULL AS live FROM learned_facts WHERE id = $1`,
      [id],
    );
    return row!;
  };

  it.each(FACT_EVENTS)('after “%s” is what the table of transitions says, from every state', async (event) => {
    for (const trust of FACT_TRUSTS) {
      const id = await stored(trust);
      await happens(event, id);
      const row = await rowOf(id);
      const expected = trustAfter(trust, event);
      expect([trust, row['trust'], row['live']]).toEqual([trust, expected, expected !== 'retired']);
      // What was over keeps its reason and its fingerprint, whatever comes later.
      if (trust === 'retired') expect(row).toMatchObject({ retired_reason: 'over', schema_fingerprint: 'orders=f', verified_by: null }); // prettier-ignore
      if (trust !== 'retired' && event === 'verified') expect(row).toMatchObject({ schema_fingerprint: 'orders=now' });
    }
  });

  it.each(['columns_changed', 'ref_gone'] as const)(
    'is not lowered by “%s” of a read that compared with an older look than the one it holds',
    async (event) => {
      const id = await stored('asserted');
      await happens('verified', id);
      await happens(event, id, 'orders=f');
      expect((await rowOf(id))['trust']).toBe('verified');
    },
  );

  it('is one of two that end it at once: the other changes nothing', async () => {
    const id = await stored('observed');
    const ended = await Promise.all(
      ['one', 'two', 'three'].map((reason) => scene.db.database.transaction((tx) => facts.retire(tx, id, reason))),
    );
    expect(ended.filter(Boolean)).toHaveLength(1);
    expect((await rowOf(id))['retired_reason']).toBe(['one', 'two', 'three'][ended.indexOf(true)]);
  });
});
