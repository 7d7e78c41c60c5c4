import { beforeAll, describe, expect, it } from '@jest/globals';
import type { EntityState, VersionState } from '#libs/lifecycle';
import { everyPair, race, serialOutcomes, type Family } from '../../test/fixtures/interleavings.js';
import { usePipelineBench } from '../../test/fixtures/pipeline-bench.js';
import type { PipelineView } from './pipeline-views.js';

const bench = usePipelineBench();
let family: Family;
let counter = 0;

beforeAll(() => {
  const act = bench.team.principal();
  const save = (view: PipelineView, hash: string): Promise<PipelineView> =>
    bench.authoring.update(act, view.id, bench.rewrite(view, { description: `text ${++counter}` }), hash);
  const release = ({ id, body_hash }: PipelineView): Promise<PipelineView> =>
    bench.lifecycle.release(act, id, body_hash, { releasePinnedTemplates: true });
  family = {
    start: async (state) => {
      let view = await bench.authoring.create(act, bench.body());
      if (state === '1D') return view.id;
      view = await release(view);
      if (state.includes('2')) view = await save(view, view.body_hash);
      if (/2[RX]/.test(state)) await release(view);
      if (state.includes('2X')) await bench.lifecycle.discard(act, view.id, 2);
      if (state.includes('1X')) await bench.lifecycle.discard(act, view.id, 1);
      return view.id;
    },
    state: (id) => stateOf(id),
    perform: async (what, id, hash) => {
      if (what === 'release') return bench.lifecycle.release(act, id, hash, { releasePinnedTemplates: true });
      if (what === 'purge draft') return bench.lifecycle.purgeDraft(act, id, hash);
      if (what === 'discard 1') return bench.lifecycle.discard(act, id, 1);
      if (what === 'restore 1') return bench.lifecycle.restore(act, id, 1);
      if (what === 'switch 1') return bench.lifecycle.switchCurrent(act, id, 1);
      return save({ ...names.get(id)!, id }, hash);
    },
    reasonOf: ({ code }) => code.split('.').at(-1)!,
  };
});

/** A save needs the pipeline's name, which a purge beside it may take away. */
const names = new Map<string, PipelineView>();

async function stateOf(id: string): Promise<EntityState> {
  const [entity] = await bench.db.database.query<{ name: string; currentVersion: number | null }>(
    'SELECT name, current_version AS "currentVersion" FROM pipelines WHERE id = $1',
    [id],
  );
  if (entity) names.set(id, { name: entity.name } as PipelineView);
  const versions = await bench.db.database.query<VersionState>(
    'SELECT version, status, body_hash AS "bodyHash" FROM pipeline_versions WHERE pipeline_id = $1 ORDER BY version',
    [id],
  );
  return { versions, currentVersion: entity?.currentVersion ?? null };
}

describe('two verbs on one pipeline at the same moment', () => {
  it.each(everyPair())('from %s, %s beside %s end as one after the other would', async (start, first, second) => {
    const { before, outcome } = await race(family, start, first, second);
    expect(serialOutcomes(before, first, second)).toContainEqual(outcome);
  });
});
