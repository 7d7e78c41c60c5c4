import { beforeAll, describe, expect, it } from '@jest/globals';
import type { EntityState, VersionState } from '#libs/lifecycle';
import { everyPair, race, serialOutcomes, type Family } from '../../test/fixtures/interleavings.js';
import { useTemplateBench } from '../../test/fixtures/template-bench.js';

const bench = useTemplateBench();
let family: Family;
let counter = 0;

beforeAll(() => {
  const act = bench.team.principal();
  const save = (name: string, hash: string) =>
    bench.authoring.update(act, bench.body({ id: name, body: `SELECT ${++counter} AS n` }), hash);
  family = {
    start: async (state) => {
      let view = await bench.authoring.create(act, bench.body());
      const name = view.id;
      if (state === '1D') return name;
      view = await bench.lifecycle.release(act, name, view.body_hash);
      if (state.includes('2')) view = await save(name, view.body_hash);
      if (/2[RX]/.test(state)) await bench.lifecycle.release(act, name, view.body_hash);
      if (state.includes('2X')) await bench.lifecycle.discard(act, name, 2);
      if (state.includes('1X')) await bench.lifecycle.discard(act, name, 1);
      return name;
    },
    state: stateOf,
    perform: async (what, name, hash) => {
      if (what === 'release') return bench.lifecycle.release(act, name, hash);
      if (what === 'purge draft') return bench.lifecycle.purgeDraft(act, name, hash);
      if (what === 'discard 1') return bench.lifecycle.discard(act, name, 1);
      if (what === 'restore 1') return bench.lifecycle.restore(act, name, 1);
      if (what === 'switch 1') return bench.lifecycle.switchCurrent(act, name, 1);
      return save(name, hash);
    },
    reasonOf: ({ code }) => code.split('.').at(-1)!,
  };
});

async function stateOf(name: string): Promise<EntityState> {
  const [entity] = await bench.db.database.query<{ currentVersion: number | null }>(
    'SELECT current_version AS "currentVersion" FROM templates WHERE name = $1',
    [name],
  );
  const versions = await bench.db.database.query<VersionState>(
    `SELECT v.version, v.status, v.body_hash AS "bodyHash"
       FROM templates t JOIN template_versions v ON v.template_id = t.id WHERE t.name = $1 ORDER BY v.version`,
    [name],
  );
  return { versions, currentVersion: entity?.currentVersion ?? null };
}

describe('two verbs on one template at the same moment', () => {
  it.each(everyPair())('from %s, %s beside %s end as one after the other would', async (start, first, second) => {
    const { before, outcome } = await race(family, start, first, second);
    expect(serialOutcomes(before, first, second)).toContainEqual(outcome);
  });
});
