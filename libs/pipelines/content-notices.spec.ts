import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { ContentBus, type ContentNotice } from '#libs/transient';
import { usePipelineBench } from '../../test/fixtures/pipeline-bench.js';
import { document, refusal } from '../../test/fixtures/pipelines.js';
import { PipelineTransfer } from './transfer/pipeline-transfer.js';

const bench = usePipelineBench();

/** How often watchers of one thing were woken by the act. */
async function wakes(notice: Omit<ContentNotice, 'workspaceId'>, act: () => Promise<unknown>): Promise<number> {
  await delay(20); // notices of what came before are under way
  let count = 0;
  const leave = await bench.instance.get(ContentBus).subscribe({ ...notice, workspaceId: bench.team.id }, () => {
    count += 1;
  });
  await act();
  await delay(20);
  leave();
  return count;
}

describe('every act that writes content tells open editors', () => {
  it('of pipelines', async () => {
    const me = bench.team.principal();
    const one = await bench.authoring.create(me, bench.body());
    const heard = (act: () => Promise<unknown>) => wakes({ kind: 'pipeline', id: one.id }, act);
    const save = bench.rewrite(one, { description: 'saved' });
    let hash = one.body_hash;
    const acts: [string, () => Promise<unknown>][] = [
      ['save', async () => ({ body_hash: hash } = await bench.authoring.update(me, one.id, save, hash))],
      ['release', () => bench.lifecycle.release(me, one.id, hash, { releasePinnedTemplates: true })],
      ['draft', async () => ({ body_hash: hash } = await bench.authoring.update(me, one.id, bench.rewrite(one), hash))],
      ['release of 2', () => bench.lifecycle.release(me, one.id, hash)],
      ['switch', () => bench.lifecycle.switchCurrent(me, one.id, 1)],
      ['discard', () => bench.lifecycle.discard(me, one.id, 2)],
      ['restore', () => bench.lifecycle.restore(me, one.id, 2)],
    ];
    for (const [act, work] of acts) expect([act, await heard(work)]).toEqual([act, 1]);
    const draft = await bench.authoring.create(me, bench.body());
    expect(await wakes({ kind: 'pipeline', id: draft.id }, () => bench.lifecycle.purge(me, draft.id))).toBe(1);
  });

  it('of pipelines and templates that are imported', async () => {
    const me = bench.team.principal();
    const one = await bench.released();
    const transfer = bench.instance.get(PipelineTransfer);
    const file = await transfer.export(me, one.id, { includeTemplates: true });
    await bench.db.database.execute('DELETE FROM pipeline_versions WHERE pipeline_id = $1', [one.id]);
    const restored = () => transfer.import(me, document({ ...file }));
    expect(await wakes({ kind: 'pipeline', id: one.id }, restored)).toBe(1);
  });

  it('of templates, those released or purged along with a pipeline too', async () => {
    const me = bench.team.principal();
    const name = bench.template;
    const heard = (act: () => Promise<unknown>) => wakes({ kind: 'template', id: name }, act);
    const fields = (body: string) => ({ id: name, dialect: 'POSTGRES', display_name: 'T', description: '', body });
    const one = await bench.authoring.create(me, bench.body());
    const hashOf = async () =>
      (
        await bench.db.database.query<{ hash: string }>(
          `SELECT v.body_hash AS hash FROM templates t JOIN template_versions v ON v.template_id = t.id
            WHERE t.name = $1 ORDER BY v.version DESC LIMIT 1`,
          [name],
        )
      )[0]!.hash;
    const saves = async (body: string) => bench.templates.update(me, fields(body), await hashOf());
    const acts: [string, () => Promise<unknown>][] = [
      ['save', () => saves('SELECT 2')],
      [
        'release along with a pipeline',
        () => bench.lifecycle.release(me, one.id, one.body_hash, { releasePinnedTemplates: true }),
      ],
      ['draft', () => saves('SELECT 3')],
      ['release', async () => bench.templateLifecycle.release(me, name, await hashOf())],
      ['switch', () => bench.templateLifecycle.switchCurrent(me, name, 1)],
      ['discard', () => bench.templateLifecycle.discard(me, name, 2)],
      ['restore', () => bench.templateLifecycle.restore(me, name, 2)],
    ];
    for (const [act, work] of acts) expect([act, await heard(work)]).toEqual([act, 1]);
    bench.template = await bench.newTemplate();
    const other = await bench.authoring.create(me, bench.body());
    const purged = () => bench.lifecycle.purge(me, other.id, { includeExclusiveDraftTemplates: true });
    expect(await wakes({ kind: 'template', id: bench.template }, purged)).toBe(1);
    const alone = await bench.newTemplate();
    expect(await wakes({ kind: 'template', id: alone }, () => bench.templateLifecycle.purge(me, alone))).toBe(1);
  });

  it('and one that is refused tells nobody', async () => {
    const me = bench.team.principal();
    const one = await bench.authoring.create(me, bench.body());
    const stale = () => refusal(bench.authoring.update(me, one.id, bench.rewrite(one), 'f'.repeat(64)));
    expect(await wakes({ kind: 'pipeline', id: one.id }, stale)).toBe(0);
  });
});
