import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readJson, writeJson, type JsonObject, type PenstockError } from '#libs/kernel';
import { TemplateAuthoring, TemplateLifecycle } from '#libs/templates';
import { createWorkspace, type TestWorkspace } from '../../test/fixtures/authors.js';
import {
  authoringInstance,
  createDatasource,
  document,
  failuresOf,
  refusal,
  type AuthoringInstance,
} from '../../test/fixtures/pipelines.js';
import { createTestDatabase, type TestDatabase } from '../../test/fixtures/postgres.js';
import { PipelineAuthoring } from './pipeline-authoring.js';
import { PipelineCatalog } from './pipeline-catalog.js';
import { PipelineLifecycle } from './pipeline-lifecycle.js';
import { PipelineReading } from './pipeline-reading.js';
import { PipelineDatasourceReferences, PipelineTemplatePins } from './pipeline-references.js';
import { definitionOf, type PipelineView } from './pipeline-views.js';

let db: TestDatabase;
let team: TestWorkspace;
let instance: AuthoringInstance;
let authoring: PipelineAuthoring;
let lifecycle: PipelineLifecycle;
let reading: PipelineReading;
let catalog: PipelineCatalog;
let templates: TemplateAuthoring;
let templateLifecycle: TemplateLifecycle;

beforeAll(async () => {
  db = await createTestDatabase();
  team = await createWorkspace(db.database);
  instance = await authoringInstance(db.database);
  authoring = instance.get(PipelineAuthoring);
  lifecycle = instance.get(PipelineLifecycle);
  reading = instance.get(PipelineReading);
  catalog = instance.get(PipelineCatalog);
  templates = instance.get(TemplateAuthoring);
  templateLifecycle = instance.get(TemplateLifecycle);
  await createDatasource(db.database, team, 'pg');
}, 60_000);
afterAll(async () => {
  await instance.close();
  await db.drop();
});

let counter = 0;
let template: string;
beforeEach(async () => {
  template = await newTemplate();
});

async function newTemplate(over: Record<string, unknown> = {}): Promise<string> {
  const body = {
    id: `t/x${++counter}.sql`,
    dialect: 'POSTGRES',
    display_name: 'T',
    description: '',
    body: 'SELECT 1',
    ...over,
  };
  return (await templates.create(team.principal(), body)).id;
}

const node = (over: Record<string, unknown> = {}) => ({
  id: 'n',
  type: 'DQL',
  source: 'pg',
  template: { id: template, version: 1 },
  ...over,
});
const body = (over: Record<string, unknown> = {}): JsonObject =>
  document({ name: `a/p${++counter}`, description: '', parameters: {}, nodes: [node()], ...over });

const rename = (view: PipelineView, over: Record<string, unknown> = {}): JsonObject =>
  body({ name: view.name, ...over });

async function released(over: Record<string, unknown> = {}): Promise<PipelineView> {
  const made = await authoring.create(team.principal(), body(over));
  return lifecycle.release(team.principal(), made.id, made.body_hash, { releasePinnedTemplates: true });
}

describe('creating', () => {
  it('lands version 1 as a draft, its body in normal form and its record around it', async () => {
    const view = await authoring.create(team.principal({ via: 'api_key' }), body({ name: 'a/first' }));
    expect(view).toMatchObject({
      name: 'a/first',
      display_name: 'first',
      folder: 'a',
      version: 1,
      status: 'DRAFT',
      entity_status: 'ACTIVE',
      current_version: null,
      owner: team.principal().userId,
      warnings: [],
      version_stamps: { created_via: 'api_key' },
    });
    expect(Object.keys(definitionOf(view)).sort()).toEqual([
      'description',
      'display_name',
      'name',
      'nodes',
      'parameters',
      'schema_version',
    ]);
  });

  it('lets one of two creations of a name through, and answers 409 to the other', async () => {
    const same = body();
    const outcomes = await Promise.allSettled([1, 2].map(() => authoring.create(team.principal(), same)));
    const lost = outcomes.find((outcome) => outcome.status === 'rejected')!;
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect([lost.reason.code, lost.reason.status]).toEqual(['pipeline.validation.duplicate_name', 409]);
  });

  it('keeps a discarded pipeline’s name taken, because a restore must always work', async () => {
    const one = await released();
    await lifecycle.discard(team.principal(), one.id, 1);
    expect((await refusal(authoring.create(team.principal(), rename(one)))).code).toBe(
      'pipeline.validation.duplicate_name',
    );
  });

  it('hashes content, not key order; a number’s spelling is content', async () => {
    const text = (a: string) => readJson(a) as JsonObject;
    const nodes = writeJson([node()]);
    const one = await authoring.create(
      team.principal(),
      text(
        `{"name":"h/a","parameters":{"x":{"type":"DECIMAL","precision":5,"default":1.0}},"nodes":${nodes},"display_name":"d"}`,
      ),
    );
    const draft = await authoring.update(
      team.principal(),
      one.id,
      text(
        `{"display_name":"d","nodes":${nodes},"parameters":{"x":{"default":1.0,"precision":5,"type":"DECIMAL"}},"name":"h/a"}`,
      ),
      one.body_hash,
    );
    expect(draft.body_hash).toBe(one.body_hash);
    const other = await authoring.update(
      team.principal(),
      one.id,
      text(
        `{"display_name":"d","nodes":${nodes},"parameters":{"x":{"default":1.00,"precision":5,"type":"DECIMAL"}},"name":"h/a"}`,
      ),
      one.body_hash,
    );
    expect(other.body_hash).not.toBe(one.body_hash);
    expect(writeJson(other.parameters)).toContain('1.00');
  });

  it('stores unicode and huge content exactly', async () => {
    const description = `ünï "q" \\ \u{1F680} ${'長'.repeat(100_000)}`;
    const view = await authoring.create(team.principal(), body({ description }));
    expect((await reading.read(team.principal(), view.id)).description).toBe(description);
  });

  it('reports the dropped keys of the save that dropped them', async () => {
    const view = await authoring.create(team.principal(), body({ dependson: 1 }));
    expect(view.warnings).toMatchObject([{ code: 'pipeline.warning.unknown_field', path: 'dependson' }]);
    expect(await reading.read(team.principal(), view.id)).not.toHaveProperty('warnings');
  });
});

describe('writing', () => {
  it('copies on write, overwrites in place, and lets the pointer stand', async () => {
    const one = await released();
    const two = await authoring.update(team.principal(), one.id, rename(one, { description: 'v2' }), one.body_hash);
    expect(two).toMatchObject({ version: 2, status: 'DRAFT', current_version: 1 });
    const again = await authoring.update(
      team.principal(),
      one.id,
      rename(one, { description: 'v3' }),
      `"${two.body_hash}"`,
    );
    expect(again).toMatchObject({ version: 2, status: 'DRAFT' });
    // A read sent back as it came, server keys and all, is the same body.
    const same = await authoring.update(team.principal(), one.id, document({ ...again }), again.body_hash);
    expect([same.body_hash, same.warnings]).toEqual([again.body_hash, []]);
  });

  it('answers a body equal to its release with the release, and opens no draft', async () => {
    const one = await released({ description: 'same' });
    const same = await authoring.update(team.principal(), one.id, document({ ...definitionOf(one) }), one.body_hash);
    expect(same).toMatchObject({ version: 1, status: 'RELEASED' });
    expect(same.draft).toBeUndefined();
  });

  it('is never renamed', async () => {
    const one = await released();
    const error = await refusal(authoring.update(team.principal(), one.id, body({ name: 'b/other' }), one.body_hash));
    expect(failuresOf(error)[0]).toMatchObject({
      code: 'pipeline.validation.name_invalid',
      details: { reason: 'immutable' },
    });
  });

  it('refuses a stale base with what stands there now', async () => {
    const one = await released();
    const two = await authoring.update(team.principal(), one.id, rename(one, { description: 'v2' }), one.body_hash);
    const stale = await refusal(authoring.update(team.principal(), one.id, rename(one), one.body_hash));
    expect([stale.code, stale.status]).toEqual(['pipeline.version.conflict', 409]);
    expect(stale.details).toMatchObject({
      current_body_hash: two.body_hash,
      current_status: 'DRAFT',
      updated_by: team.principal().userId,
    });
    const missing = await refusal(authoring.update(team.principal(), one.id, rename(one), undefined));
    expect([missing.status, missing.details['reason']]).toEqual([400, 'precondition_missing']);
  });

  it('lets one of two first writers of a draft win and gives the other the winner’s hash', async () => {
    const one = await released();
    const outcomes = await Promise.allSettled(
      ['left', 'right'].map((description) =>
        authoring.update(team.principal(), one.id, rename(one, { description }), one.body_hash),
      ),
    );
    const won = outcomes.find((outcome) => outcome.status === 'fulfilled')!;
    const lost = outcomes.find((outcome) => outcome.status === 'rejected')!;
    expect([lost.reason.code, lost.reason.details.current_body_hash]).toEqual([
      'pipeline.version.conflict',
      won.value.body_hash,
    ]);
  });

  it('cannot write to a pipeline that is discarded whole', async () => {
    const one = await released();
    await lifecycle.discard(team.principal(), one.id, 1);
    const error = await refusal(authoring.update(team.principal(), one.id, rename(one), one.body_hash));
    expect([error.code, error.details['current_status']]).toEqual(['pipeline.version.conflict', 'DISCARDED']);
  });

  it('validates without storing', async () => {
    const count = async () => (await db.database.query('SELECT FROM pipelines')).length;
    const before = await count();
    expect(await authoring.validate(team.principal(), body())).toEqual({ valid: true, failures: [], warnings: [] });
    const report = await authoring.validate(team.principal(), body({ nodes: [] }));
    expect([report.valid, report.failures.map(({ code }) => code)]).toEqual([
      false,
      ['pipeline.validation.empty_pipeline'],
    ]);
    expect(await count()).toBe(before);
  });
});

describe('releasing', () => {
  it('demands released templates, and takes them along when asked, libraries first', async () => {
    const library = await newTemplate({ is_library: true, body: '<#macro m>1</#macro>' });
    template = await newTemplate({ imports: [{ id: library, version: 1, alias: 'L' }], body: 'SELECT <@L.m/>' });
    const made = await authoring.create(team.principal(), body());
    const early = await refusal(lifecycle.release(team.principal(), made.id, made.body_hash));
    expect([early.code, early.status]).toEqual(['pipeline.release.template_not_released', 409]);
    expect(early.details).toMatchObject({
      template_id: template,
      template_version: 1,
      template_status: 'DRAFT',
      pins_not_released: [{ template_id: template }, { template_id: library }],
    });
    const done = await lifecycle.release(team.principal(), made.id, made.body_hash, { releasePinnedTemplates: true });
    expect(done).toMatchObject({ status: 'RELEASED', current_version: 1 });
    const rows = await db.database.query<{ details: string }>(
      `SELECT details_json AS details FROM audit_log
        WHERE event = 'template.version.released' AND details_json->>'cascade_from_pipeline_id' = $1 ORDER BY timestamp, id`,
      [made.id],
    );
    expect(rows.map(({ details }) => (readJson(details) as { name: string }).name)).toEqual([library, template]);
    const [audit] = await db.database.query<{ details: string }>(
      `SELECT details_json AS details FROM audit_log WHERE event = 'pipeline.version.released' AND details_json->>'id' = $1`,
      [made.id],
    );
    expect(JSON.parse(audit!.details)).toMatchObject({
      version: 1,
      via: 'session',
      templates_released: [{ id: library }, { id: template }],
    });
  });

  it('judges the stored body again: what changed in the registries since refuses', async () => {
    await createDatasource(db.database, team, 'leaving');
    const made = await authoring.create(team.principal(), body({ nodes: [node({ source: 'leaving' })] }));
    await db.database.execute(`DELETE FROM datasource_workspaces WHERE datasource_name = 'leaving'`);
    const error = await refusal(
      lifecycle.release(team.principal(), made.id, made.body_hash, { releasePinnedTemplates: true }),
    );
    expect(failuresOf(error).map(({ code }) => code)).toEqual(['pipeline.validation.unknown_datasource']);
    expect((await reading.read(team.principal(), made.id)).status).toBe('DRAFT');
  });

  it('releases what it was shown: a draft written meanwhile is a conflict, a second release finds no draft', async () => {
    const made = await authoring.create(team.principal(), body());
    const pin = await templateLifecycleRelease(template);
    expect(pin).toBe('RELEASED');
    const outcomes = await Promise.allSettled([
      lifecycle.release(team.principal(), made.id, made.body_hash),
      authoring.update(team.principal(), made.id, rename(made, { description: 'late' }), made.body_hash),
    ]);
    // One after the other both may pass: a write after the release opens version 2 only when based on it.
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    for (const { reason } of refused as PromiseRejectedResult[]) {
      expect((reason as PenstockError).code).toBe('pipeline.version.conflict');
    }
    const now = await reading.read(team.principal(), made.id);
    expect(now.body_hash === made.body_hash || now.status === 'DRAFT').toBe(true);
    const again = await refusal(lifecycle.release(team.principal(), (await released()).id, 'f'.repeat(64)));
    expect(again.code).toBe('pipeline.version.not_draft');
  });

  it('takes the index row’s name and description from the body', async () => {
    const one = await released({ display_name: 'Old', description: 'old' });
    const two = await authoring.update(
      team.principal(),
      one.id,
      rename(one, { display_name: 'New', description: 'new' }),
      one.body_hash,
    );
    const listed = async () =>
      (await reading.list(team.principal(), { q: one.name as string }, { offset: 0, limit: 5 })).items[0];
    expect(await listed()).toMatchObject({ display_name: 'Old', version: 2, status: 'DRAFT' });
    await lifecycle.release(team.principal(), one.id, two.body_hash, { releasePinnedTemplates: true });
    expect(await listed()).toMatchObject({ display_name: 'New', description: 'new', version: 2, status: 'RELEASED' });
  });
});

async function templateLifecycleRelease(id: string): Promise<string> {
  const [row] = await db.database.query<{ hash: string }>(
    `SELECT v.body_hash AS hash FROM templates t JOIN template_versions v ON v.template_id = t.id WHERE t.name = $1`,
    [id],
  );
  return (await templateLifecycle.release(team.principal(), id, row!.hash)).status;
}

describe('pins and datasources under a save', () => {
  it('a template version cannot be taken away while or after a save pins it', async () => {
    await templateLifecycleRelease(template);
    const [saved, discarded] = await Promise.allSettled([
      authoring.create(team.principal(), body()),
      templateLifecycle.discard(team.principal(), template, 1),
    ]);
    expect([saved.status, discarded.status].sort()).toEqual(['fulfilled', 'rejected']);
    const lost = (saved.status === 'rejected' ? saved : (discarded as PromiseRejectedResult)).reason as PenstockError;
    expect(['pipeline.validation.template_version_not_found', 'template.in_use']).toContain(lost.code);
  });

  it('a draft template pinned by a draft pipeline cannot be purged', async () => {
    const made = await authoring.create(team.principal(), body());
    const error = await refusal(templateLifecycle.purge(team.principal(), template));
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
    const one = await released();
    await lifecycle.discard(team.principal(), one.id, 1);
    expect((await refusal(templateLifecycle.discard(team.principal(), template, 1))).code).toBe('template.in_use');
  });

  it('a save sees the delete of a datasource that committed while it rendered', async () => {
    await createDatasource(db.database, team, 'vanishing');
    const saving = body({ nodes: [node({ source: 'vanishing' })] });
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const deleting = db.database.transaction(async (tx) => {
      await tx.query(`SELECT FROM datasources WHERE name = 'vanishing' FOR UPDATE`);
      await held;
      await tx.execute(`UPDATE datasources SET is_deleted = TRUE, updated_at = NOW() WHERE name = 'vanishing'`);
    });
    const save = refusal(authoring.create(team.principal(), saving));
    setTimeout(release, 300);
    await deleting;
    expect(failuresOf(await save).map(({ code }) => code)).toEqual(['pipeline.validation.unknown_datasource']);
  });

  it('answers busy when it may not wait any longer', async () => {
    const one = await released();
    const error = await db.database.transaction(async (tx) => {
      await tx.query('SELECT FROM pipelines WHERE id = $1 FOR NO KEY UPDATE', [one.id]);
      return refusal(lifecycle.switchCurrent(team.principal(), one.id, 1));
    });
    expect([error.code, error.details['reason']]).toEqual(['pipeline.version.conflict', 'busy']);
  });
});

describe('verbs', () => {
  async function run(pipelineId: string, version: number): Promise<void> {
    await db.database.execute(
      `INSERT INTO pipeline_executions (execution_id, pipeline_id, pipeline_version, status, triggered_by, triggered_via, started_at, root_execution_id)
       SELECT x, $1, $2, 'SUCCESS', $3, 'UI', NOW(), x FROM gen_random_uuid() AS x`,
      [pipelineId, version, team.principal().userId],
    );
  }

  it('discards, restores and switches as the worked rows say', async () => {
    const one = await released();
    const two = await authoring.update(team.principal(), one.id, rename(one, { description: 'v2' }), one.body_hash);
    const dropped = await lifecycle.discard(team.principal(), one.id, 1);
    expect(dropped).toMatchObject({ status: 'DISCARDED', current_version: 2 });
    await lifecycle.release(team.principal(), one.id, two.body_hash, { releasePinnedTemplates: true });
    const back = await lifecycle.restore(team.principal(), one.id, 1);
    expect(back).toMatchObject({ status: 'RELEASED', current_version: 2 });
    expect((await lifecycle.switchCurrent(team.principal(), one.id, 1)).current_version).toBe(1);
    expect((await refusal(lifecycle.discard(team.principal(), one.id, 7))).details['pipeline_version']).toBe(7);
  });

  it('purges a draft with its executions and leaves none behind', async () => {
    const one = await released();
    const two = await authoring.update(team.principal(), one.id, rename(one, { description: 'v2' }), one.body_hash);
    await run(one.id, 2);
    await run(one.id, 1);
    await lifecycle.purgeDraft(team.principal(), one.id, two.body_hash);
    const left = await db.database.query<{ v: number }>(
      'SELECT pipeline_version AS v FROM pipeline_executions WHERE pipeline_id = $1',
      [one.id],
    );
    expect(left.map(({ v }) => v)).toEqual([1]);
    const [audit] = await db.database.query<{ n: number }>(
      `SELECT (details_json->>'executions')::int AS n FROM audit_log WHERE event = 'pipeline.version.purged' AND details_json->>'id' = $1`,
      [one.id],
    );
    expect(audit?.n).toBe(1);
    expect((await refusal(lifecycle.purgeVersion(team.principal(), one.id, 1))).code).toBe(
      'pipeline.version.last_release',
    );
    expect((await refusal(lifecycle.purge(team.principal(), one.id))).code).toBe('pipeline.version.last_release');
  });

  it('purges a whole pipeline, tells which draft templates only it used, and takes them when asked', async () => {
    const shared = template;
    await authoring.create(team.principal(), body());
    template = await newTemplate();
    const nodes = [
      node({ output: { target: 'tempdb', table: 'x' } }),
      node({ id: 'm', template: { id: shared, version: 1 } }),
    ];
    const made = await authoring.create(team.principal(), body({ nodes }));
    await db.database.execute(
      `INSERT INTO pipeline_check_runs (id, pipeline_id, version, check_id, via, verdict) VALUES (gen_random_uuid(), $1, 1, 'c', 'ui', 'pass')`,
      [made.id],
    );
    const report = await lifecycle.purge(team.principal(), made.id, { includeExclusiveDraftTemplates: true });
    expect(report).toEqual({
      purged: true,
      exclusive_draft_templates: [template],
      exclusive_draft_templates_purged: [template],
    });
    expect((await refusal(reading.read(team.principal(), made.id))).code).toBe('pipeline.execution.not_found');
    const again = await authoring.create(
      team.principal(),
      document({ ...definitionOf(made), nodes: [node({ template: { id: shared, version: 1 } })] }),
    );
    expect(again.version).toBe(1);
    expect((await lifecycle.purge(team.principal(), again.id)).exclusive_draft_templates_purged).toEqual([]);
  });

  it('keeps a pipeline that an endpoint serves', async () => {
    const made = await authoring.create(team.principal(), body());
    await db.database.execute(
      `INSERT INTO published_endpoints (id, workspace_id, path_pattern, pipeline_id, timeout_seconds, created_by) VALUES (gen_random_uuid(), $1, $2, $3, 30, $4)`,
      [team.id, `/x/${made.id}`, made.id, team.principal().userId],
    );
    const error = await refusal(lifecycle.purge(team.principal(), made.id));
    expect([error.code, error.details['endpoints']]).toEqual(['pipeline.version.pinned', [`/x/${made.id}`]]);
  });

  it('keeps session-only verbs from keys, releases from authors, everything but reads from viewers', async () => {
    const one = await released();
    const key = team.principal({ via: 'api_key' });
    for (const verb of [
      () => lifecycle.discard(key, one.id, 1),
      () => lifecycle.restore(key, one.id, 1),
      () => lifecycle.switchCurrent(key, one.id, 1),
      () => lifecycle.purge(key, one.id),
      () => lifecycle.purgeDraft(key, one.id, one.body_hash),
    ]) {
      expect((await refusal(verb())).code).toBe('auth.session.required');
    }
    const author = team.principal({ flags: { promoter: false } });
    expect((await refusal(lifecycle.release(author, one.id, one.body_hash))).code).toBe('auth.role_required');
    const viewer = team.principal({ flags: { author: false, promoter: false } });
    expect((await reading.read(viewer, one.id)).version).toBe(1);
    expect((await refusal(authoring.validate(viewer, body()))).code).toBe('auth.role_required');
  });

  it('refuses every write where authoring is disabled, and still switches', async () => {
    const one = await released();
    const receiver = await authoringInstance(db.database, { DATAPIPELINES_DEPLOYMENT_AUTHORING_ENABLED: 'false' });
    const act = team.principal();
    const there = { authoring: receiver.get(PipelineAuthoring), lifecycle: receiver.get(PipelineLifecycle) };
    for (const work of [
      () => there.authoring.create(act, body()),
      () => there.authoring.update(act, one.id, body(), 'x'),
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

describe('reading', () => {
  it('answers a foreign workspace, and nonsense ids, exactly as if the pipeline did not exist', async () => {
    const one = await released();
    const foreign = (await createWorkspace(db.database)).principal();
    const nowhere = '00000000-0000-4000-8000-000000000000';
    for (const verb of [
      (id: string) => reading.read(foreign, id),
      (id: string) => reading.versions(foreign, id),
      (id: string) => authoring.update(foreign, id, body(), one.body_hash),
      (id: string) => lifecycle.release(foreign, id, one.body_hash),
      (id: string) => lifecycle.discard(foreign, id, 1),
      (id: string) => lifecycle.switchCurrent(foreign, id, 1),
      (id: string) => lifecycle.purge(foreign, id),
      (id: string) => lifecycle.purgeVersion(foreign, id, 1),
    ]) {
      const answers = await Promise.all(
        [one.id, nowhere, 'nonsense'].map(async (id) => {
          const told = (await refusal(verb(id))).toBody();
          return { ...told, details: { ...told.details, pipeline_id: '' } };
        }),
      );
      expect(answers[0]!.code).toBe('pipeline.execution.not_found');
      expect(answers[1]).toEqual(answers[0]);
      expect(answers[2]).toEqual(answers[0]);
    }
    expect(await catalog.forRun(foreign.workspace!.id, one.id)).toBeUndefined();
  });

  it('gives executions the draft, else the pointer’s version, and an explicit one exactly', async () => {
    const one = await released({ parameters: { p: { type: 'DECIMAL', precision: 5, scale: 2, default: 1.5 } } });
    expect(await catalog.forRun(team.id, one.id)).toMatchObject({
      version: 1,
      status: 'RELEASED',
      releasedAt: expect.stringMatching(/\.\d{6}Z$/),
    });
    const two = await authoring.update(team.principal(), one.id, rename(one), one.body_hash);
    expect(await catalog.forRun(team.id, one.id)).toMatchObject({
      version: 2,
      status: 'DRAFT',
      bodyHash: two.body_hash,
    });
    expect((await catalog.forRun(team.id, one.id, 1))?.document.parameters.get('p')).toMatchObject({
      type: 'DECIMAL',
      precision: 5,
      scale: 2,
    });
    expect(await catalog.released(team.id, one.id)).toMatchObject({ version: 1 });
    expect(await catalog.forRun(team.id, one.id, 3)).toBeUndefined();
    await lifecycle.discard(team.principal(), one.id, 1);
    expect(await catalog.forRun(team.id, one.id, 1)).toBeUndefined();
    expect(await catalog.forRun(team.id, 'nonsense')).toBeUndefined();
  });

  it('filters, searches and browses in the database', async () => {
    const here = await createWorkspace(db.database, 'browse');
    await createDatasource(db.database, here, 'ds-one');
    await createDatasource(db.database, here, 'ds-two');
    const act = here.principal();
    const t = (
      await templates.create(act, {
        id: 't/a.sql',
        dialect: 'POSTGRES',
        display_name: 'a',
        description: '',
        body: 'SELECT 1',
      })
    ).id;
    const make = (name: string, source: string, output?: Record<string, unknown>) =>
      authoring.create(
        act,
        document({
          name,
          description: `100%_\\ ${name}`,
          nodes: [{ id: 'n', type: 'DQL', source, template: { id: t, version: 1 }, ...(output ? { output } : {}) }],
        }),
      );
    await make('f/a', 'ds-one');
    await make('f/b_c', 'ds-two');
    await make('f/bxc', 'ds-one', { target: 'datasource', datasource: 'ds-two', table: 't', mode: 'append' });
    await make('f/g/one', 'ds-one');
    const page = { offset: 0, limit: 10 };
    const names = async (filter: Record<string, string>) =>
      (await reading.list(act, filter, page)).items.map(({ name }) => name);
    expect(await names({ q: 'b_c' })).toEqual(['f/b_c']);
    expect(await names({ q: '%_\\' })).toHaveLength(4);
    expect(await names({ datasource: 'ds-two' })).toEqual(['f/b_c', 'f/bxc']);
    expect(await names({ owner: act.userId })).toHaveLength(4);
    expect(await names({ owner: 'nobody' })).toEqual([]);
    const level = await reading.tree(act, 'f', page);
    expect([level.folders, level.pipelines.map(({ name }) => name), level.total, level.has_more]).toEqual([
      [{ path: 'f/g', segment: 'g', pipeline_count: 1 }],
      ['f/a', 'f/b_c', 'f/bxc'],
      3,
      false,
    ]);
    expect((await reading.listKeyset(act, {}, { first: 2, after: 'f/a' })).items.map(({ name }) => name)).toEqual([
      'f/b_c',
      'f/bxc',
    ]);
    expect((await reading.readByName(act, 'f/a')).name).toBe('f/a');
    const references = await instance.get(PipelineDatasourceReferences).references(db.database, 'ds-two', [here.id]);
    expect(references).toEqual({
      references: [
        { pipeline: 'f/b_c', node_id: 'n', pipeline_version: 1, version_status: 'DRAFT' },
        { pipeline: 'f/bxc', node_id: 'n', pipeline_version: 1, version_status: 'DRAFT' },
      ],
      hidden: 0,
    });
    expect(await instance.get(PipelineDatasourceReferences).references(db.database, 'ds-two', [])).toEqual({
      references: [],
      hidden: 2,
    });
    const pins = await instance.get(PipelineTemplatePins).pinsOf(db.database, here.id, t, 1);
    expect(pins.referencing_pipelines).toEqual(['f/a', 'f/b_c', 'f/bxc', 'f/g/one']);
    expect((await instance.get(PipelineTemplatePins).pinsOf(db.database, here.id, t, 2)).references).toEqual([]);
  });
});
