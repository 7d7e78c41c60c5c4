import { describe, expect, it } from '@jest/globals';
import { readJson, type PenstockError } from '#libs/kernel';
import { usePipelineBench } from '../../test/fixtures/pipeline-bench.js';
import { createDatasource, failuresOf, refusal } from '../../test/fixtures/pipelines.js';

const bench = usePipelineBench();

describe('releasing', () => {
  it('demands released templates, and takes them along when asked, libraries first', async () => {
    const library = await bench.newTemplate({ is_library: true, body: '<#macro m>1</#macro>' });
    bench.template = await bench.newTemplate({
      imports: [{ id: library, version: 1, alias: 'L' }],
      body: 'SELECT <@L.m/>',
    });
    const made = await bench.authoring.create(bench.team.principal(), bench.body());
    const early = await refusal(bench.lifecycle.release(bench.team.principal(), made.id, made.body_hash));
    expect([early.code, early.status]).toEqual(['pipeline.release.template_not_released', 409]);
    expect(early.details).toMatchObject({
      template_id: bench.template,
      template_version: 1,
      template_status: 'DRAFT',
      pins_not_released: [{ template_id: bench.template }, { template_id: library }],
    });
    const done = await bench.lifecycle.release(bench.team.principal(), made.id, made.body_hash, {
      releasePinnedTemplates: true,
    });
    expect(done).toMatchObject({ status: 'RELEASED', current_version: 1 });
    const rows = await bench.db.database.query<{ details: string }>(
      `SELECT details_json AS details FROM audit_log
        WHERE event = 'template.version.released' AND details_json->>'cascade_from_pipeline_id' = $1 ORDER BY timestamp, id`,
      [made.id],
    );
    expect(rows.map(({ details }) => (readJson(details) as { name: string }).name)).toEqual([library, bench.template]);
    const [audit] = await bench.db.database.query<{ details: string }>(
      `SELECT details_json AS details FROM audit_log WHERE event = 'pipeline.version.released' AND details_json->>'id' = $1`,
      [made.id],
    );
    expect(JSON.parse(audit!.details)).toMatchObject({
      version: 1,
      via: 'session',
      templates_released: [{ id: library }, { id: bench.template }],
    });
  });

  it('judges the stored body again: what changed in the registries since refuses', async () => {
    await createDatasource(bench.db.database, bench.team, 'leaving');
    const made = await bench.authoring.create(
      bench.team.principal(),
      bench.body({ nodes: [bench.node({ source: 'leaving' })] }),
    );
    await bench.db.database.execute(`DELETE FROM datasource_workspaces WHERE datasource_name = 'leaving'`);
    const error = await refusal(
      bench.lifecycle.release(bench.team.principal(), made.id, made.body_hash, { releasePinnedTemplates: true }),
    );
    expect(failuresOf(error).map(({ code }) => code)).toEqual(['pipeline.validation.unknown_datasource']);
    expect((await bench.reading.read(bench.team.principal(), made.id)).status).toBe('DRAFT');
  });

  it('releases what it was shown: a draft written meanwhile is a conflict, a second release finds no draft', async () => {
    const made = await bench.authoring.create(bench.team.principal(), bench.body());
    const pin = await bench.releaseTemplate(bench.template);
    expect(pin).toBe('RELEASED');
    const outcomes = await Promise.allSettled([
      bench.lifecycle.release(bench.team.principal(), made.id, made.body_hash),
      bench.authoring.update(
        bench.team.principal(),
        made.id,
        bench.rewrite(made, { description: 'late' }),
        made.body_hash,
      ),
    ]);
    // One after the other both may pass: a write after the release opens version 2 only when based on it.
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    for (const { reason } of refused as PromiseRejectedResult[]) {
      expect((reason as PenstockError).code).toBe('pipeline.version.conflict');
    }
    const now = await bench.reading.read(bench.team.principal(), made.id);
    expect(now.body_hash === made.body_hash || now.status === 'DRAFT').toBe(true);
    const again = await refusal(
      bench.lifecycle.release(bench.team.principal(), (await bench.released()).id, 'f'.repeat(64)),
    );
    expect(again.code).toBe('pipeline.version.not_draft');
  });

  it('takes the index row’s name and description from the body', async () => {
    const one = await bench.released({ display_name: 'Old', description: 'old' });
    const two = await bench.authoring.update(
      bench.team.principal(),
      one.id,
      bench.rewrite(one, { display_name: 'New', description: 'new' }),
      one.body_hash,
    );
    const listed = async () =>
      (await bench.reading.list(bench.team.principal(), { q: one.name as string }, { first: 5 })).items[0];
    expect(await listed()).toMatchObject({ display_name: 'Old', version: 2, status: 'DRAFT' });
    await bench.lifecycle.release(bench.team.principal(), one.id, two.body_hash, { releasePinnedTemplates: true });
    expect(await listed()).toMatchObject({ display_name: 'New', description: 'new', version: 2, status: 'RELEASED' });
  });
});

describe('pins and datasources under a save', () => {
  it('a template version cannot be taken away while or after a save pins it', async () => {
    await bench.releaseTemplate(bench.template);
    const [saved, discarded] = await Promise.allSettled([
      bench.authoring.create(bench.team.principal(), bench.body()),
      bench.templateLifecycle.discard(bench.team.principal(), bench.template, 1),
    ]);
    expect([saved.status, discarded.status].sort()).toEqual(['fulfilled', 'rejected']);
    const lost = (saved.status === 'rejected' ? saved : (discarded as PromiseRejectedResult)).reason as PenstockError;
    expect(['pipeline.validation.template_version_not_found', 'template.in_use']).toContain(lost.code);
  });

  it('a draft template pinned by a draft pipeline cannot be purged', async () => {
    const made = await bench.authoring.create(bench.team.principal(), bench.body());
    const error = await refusal(bench.templateLifecycle.purge(bench.team.principal(), bench.template));
    expect(error.code).toBe('template.in_use');
    expect(error.details['references']).toMatchObject([
      {
        pipeline: made.name,
        pipeline_id: made.id,
        node_id: 'n',
        pipeline_version: 1,
        pipeline_version_status: 'DRAFT',
      },
    ]);
  });

  it('a discarded version still pins, because it can be restored', async () => {
    const one = await bench.released();
    await bench.lifecycle.discard(bench.team.principal(), one.id, 1);
    expect((await refusal(bench.templateLifecycle.discard(bench.team.principal(), bench.template, 1))).code).toBe(
      'template.in_use',
    );
  });

  it('a save sees the delete of a datasource that committed while it rendered', async () => {
    await createDatasource(bench.db.database, bench.team, 'vanishing');
    const saving = bench.body({ nodes: [bench.node({ source: 'vanishing' })] });
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const deleting = bench.db.database.transaction(async (tx) => {
      await tx.query(`SELECT FROM datasources WHERE name = 'vanishing' FOR UPDATE`);
      await held;
      await tx.execute(`UPDATE datasources SET is_deleted = TRUE, updated_at = NOW() WHERE name = 'vanishing'`);
    });
    const save = refusal(bench.authoring.create(bench.team.principal(), saving));
    setTimeout(release, 300);
    await deleting;
    expect(failuresOf(await save).map(({ code }) => code)).toEqual(['pipeline.validation.unknown_datasource']);
  });

  it('answers busy when it may not wait any longer', async () => {
    const one = await bench.released();
    const error = await bench.db.database.transaction(async (tx) => {
      await tx.query('SELECT FROM pipelines WHERE id = $1 FOR NO KEY UPDATE', [one.id]);
      return refusal(bench.lifecycle.switchCurrent(bench.team.principal(), one.id, 1));
    });
    expect([error.code, error.details['reason']]).toEqual(['pipeline.version.conflict', 'busy']);
  });
});
