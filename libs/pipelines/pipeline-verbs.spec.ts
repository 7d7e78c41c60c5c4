import { describe, expect, it } from '@jest/globals';
import { usePipelineBench } from '../../test/fixtures/pipeline-bench.js';
import { authoringInstance, document, refusal } from '../../test/fixtures/pipelines.js';
import { PipelineAuthoring } from './pipeline-authoring.js';
import { PipelineLifecycle } from './pipeline-lifecycle.js';
import { definitionOf } from './pipeline-views.js';

const bench = usePipelineBench();

describe('verbs', () => {
  async function run(pipelineId: string, version: number): Promise<void> {
    await bench.db.database.execute(
      `INSERT INTO pipeline_executions (execution_id, pipeline_id, pipeline_version, status, triggered_by, triggered_via, started_at, root_execution_id)
       SELECT x, $1, $2, 'SUCCESS', $3, 'UI', NOW(), x FROM gen_random_uuid() AS x`,
      [pipelineId, version, bench.team.principal().userId],
    );
  }

  it('discards, restores and switches as the worked rows say', async () => {
    const one = await bench.released();
    const two = await bench.authoring.update(
      bench.team.principal(),
      one.id,
      bench.rewrite(one, { description: 'v2' }),
      one.body_hash,
    );
    const dropped = await bench.lifecycle.discard(bench.team.principal(), one.id, 1);
    expect(dropped).toMatchObject({ status: 'DISCARDED', current_version: 2 });
    await bench.lifecycle.release(bench.team.principal(), one.id, two.body_hash, { releasePinnedTemplates: true });
    const back = await bench.lifecycle.restore(bench.team.principal(), one.id, 1);
    expect(back).toMatchObject({ status: 'RELEASED', current_version: 2 });
    expect((await bench.lifecycle.switchCurrent(bench.team.principal(), one.id, 1)).current_version).toBe(1);
    expect(
      (await refusal(bench.lifecycle.discard(bench.team.principal(), one.id, 7))).details['pipeline_version'],
    ).toBe(7);
  });

  it('purges a draft with its executions and leaves none behind', async () => {
    const one = await bench.released();
    const two = await bench.authoring.update(
      bench.team.principal(),
      one.id,
      bench.rewrite(one, { description: 'v2' }),
      one.body_hash,
    );
    await run(one.id, 2);
    await run(one.id, 1);
    await bench.lifecycle.purgeDraft(bench.team.principal(), one.id, two.body_hash);
    const left = await bench.db.database.query<{ v: number }>(
      'SELECT pipeline_version AS v FROM pipeline_executions WHERE pipeline_id = $1',
      [one.id],
    );
    expect(left.map(({ v }) => v)).toEqual([1]);
    const [audit] = await bench.db.database.query<{ n: number }>(
      `SELECT (details_json->>'executions')::int AS n FROM audit_log WHERE event = 'pipeline.version.purged' AND details_json->>'id' = $1`,
      [one.id],
    );
    expect(audit?.n).toBe(1);
    expect((await refusal(bench.lifecycle.purgeVersion(bench.team.principal(), one.id, 1))).code).toBe(
      'pipeline.version.last_release',
    );
    expect((await refusal(bench.lifecycle.purge(bench.team.principal(), one.id))).code).toBe(
      'pipeline.version.last_release',
    );
  });

  it('purges a whole pipeline, tells which draft templates only it used, and takes them when asked', async () => {
    const shared = bench.template;
    await bench.authoring.create(bench.team.principal(), bench.body());
    bench.template = await bench.newTemplate();
    const nodes = [
      bench.node({ output: { target: 'tempdb', table: 'x' } }),
      bench.node({ id: 'm', template: { id: shared, version: 1 } }),
    ];
    const made = await bench.authoring.create(bench.team.principal(), bench.body({ nodes }));
    await bench.db.database.execute(
      `INSERT INTO pipeline_check_runs (id, pipeline_id, version, check_id, via, verdict) VALUES (gen_random_uuid(), $1, 1, 'c', 'ui', 'pass')`,
      [made.id],
    );
    const report = await bench.lifecycle.purge(bench.team.principal(), made.id, {
      includeExclusiveDraftTemplates: true,
    });
    expect(report).toEqual({
      purged: true,
      exclusive_draft_templates: [bench.template],
      exclusive_draft_templates_purged: [bench.template],
    });
    expect((await refusal(bench.reading.read(bench.team.principal(), made.id))).code).toBe(
      'pipeline.execution.not_found',
    );
    const again = await bench.authoring.create(
      bench.team.principal(),
      document({ ...definitionOf(made), nodes: [bench.node({ template: { id: shared, version: 1 } })] }),
    );
    expect(again.version).toBe(1);
    expect((await bench.lifecycle.purge(bench.team.principal(), again.id)).exclusive_draft_templates_purged).toEqual(
      [],
    );
  });

  it('keeps a pipeline that an endpoint serves', async () => {
    const made = await bench.authoring.create(bench.team.principal(), bench.body());
    await bench.db.database.execute(
      `INSERT INTO published_endpoints (id, workspace_id, path_pattern, pipeline_id, timeout_seconds, created_by) VALUES (gen_random_uuid(), $1, $2, $3, 30, $4)`,
      [bench.team.id, `/x/${made.id}`, made.id, bench.team.principal().userId],
    );
    const error = await refusal(bench.lifecycle.purge(bench.team.principal(), made.id));
    expect([error.code, error.details['endpoints']]).toEqual(['pipeline.version.pinned', [`/x/${made.id}`]]);
  });

  it('keeps session-only verbs from keys, releases from authors, everything but reads from viewers', async () => {
    const one = await bench.released();
    const key = bench.team.principal({ via: 'api_key' });
    for (const verb of [
      () => bench.lifecycle.discard(key, one.id, 1),
      () => bench.lifecycle.restore(key, one.id, 1),
      () => bench.lifecycle.switchCurrent(key, one.id, 1),
      () => bench.lifecycle.purge(key, one.id),
      () => bench.lifecycle.purgeDraft(key, one.id, one.body_hash),
    ]) {
      expect((await refusal(verb())).code).toBe('auth.session.required');
    }
    const author = bench.team.principal({ flags: { promoter: false } });
    expect((await refusal(bench.lifecycle.release(author, one.id, one.body_hash))).code).toBe('auth.role_required');
    const viewer = bench.team.principal({ flags: { author: false, promoter: false } });
    expect((await bench.reading.read(viewer, one.id)).version).toBe(1);
    expect((await refusal(bench.authoring.validate(viewer, bench.body()))).code).toBe('auth.role_required');
  });

  it('refuses every write where authoring is disabled, and still switches', async () => {
    const one = await bench.released();
    const receiver = await authoringInstance(bench.db.database, {
      DATAPIPELINES_DEPLOYMENT_AUTHORING_ENABLED: 'false',
    });
    const act = bench.team.principal();
    const there = { authoring: receiver.get(PipelineAuthoring), lifecycle: receiver.get(PipelineLifecycle) };
    for (const work of [
      () => there.authoring.create(act, bench.body()),
      () => there.authoring.update(act, one.id, bench.body(), 'x'),
      () => there.lifecycle.release(act, one.id, 'x'),
      () => there.lifecycle.discard(act, one.id, 1),
      () => there.lifecycle.restore(act, one.id, 1),
      () => there.lifecycle.purge(act, one.id),
      () => there.lifecycle.purgeVersion(act, one.id, 1),
    ]) {
      expect((await refusal(work())).code).toBe('pipeline.authoring.disabled');
    }
    expect((await there.lifecycle.switchCurrent(act, one.id, 1)).current_version).toBe(1);
    await receiver.close();
  });
});
