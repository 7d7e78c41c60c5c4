import { beforeAll, describe, expect, it } from '@jest/globals';
import { readJson, writeJson, type JsonObject } from '#libs/kernel';
import { PipelineTransfer, type PipelineView } from '#libs/pipelines';
import { TemplateTransfer, type TemplateView } from '#libs/templates';
import { createWorkspace, type TestWorkspace } from '../fixtures/authors.js';
import { FailingStatements } from '../fixtures/failing-statements.js';
import { usePipelineBench } from '../fixtures/pipeline-bench.js';
import { refusal } from '../fixtures/pipelines.js';

const bench = usePipelineBench();
let faults: FailingStatements;
let elsewhere: TestWorkspace;

beforeAll(async () => {
  elsewhere = await createWorkspace(bench.db.database);
  await bench.db.database.execute(
    'INSERT INTO datasource_workspaces (datasource_name, workspace_id, granted_by) VALUES ($1, $2, $3)',
    ['pg', elsewhere.id, elsewhere.principal().userId],
  );
  faults = new FailingStatements(bench.db.database);
});

/** Every row the verbs may write. */
async function everything(): Promise<unknown> {
  const tables = [
    'templates',
    'template_versions',
    'pipelines',
    'pipeline_versions',
    'pipeline_check_runs',
    'audit_log',
  ];
  const rows: unknown[] = [];
  for (const table of tables) {
    const content = await bench.db.database.query(`SELECT row_to_json(t)::text AS row FROM ${table} t ORDER BY 1`);
    rows.push({ table, content });
  }
  return rows;
}

/** The act fails at each of its statements and leaves nothing behind; then it does its work as if nothing had been. */
async function holds<T>(act: () => Promise<T>): Promise<T> {
  const before = await everything();
  const { steps, result } = await faults.failEach(act, async (n) => {
    expect({ n, state: await everything() }).toEqual({ n, state: before });
  });
  expect(steps).toBeGreaterThan(2);
  expect(await everything()).not.toEqual(before);
  return result;
}

const me = () => bench.team.principal();
const fields = (over: Record<string, unknown> = {}): Record<string, unknown> => {
  return { dialect: 'POSTGRES', display_name: 'T', description: '', body: 'SELECT 1', ...over };
};
let names = 0;
const newName = (): string => `f/t${++names}.sql`;

async function template(over: Record<string, unknown> = {}): Promise<TemplateView> {
  return bench.templates.create(me(), fields({ id: newName(), ...over }));
}
async function releasedTemplate(over: Record<string, unknown> = {}): Promise<TemplateView> {
  const made = await template(over);
  return bench.templateLifecycle.release(me(), made.id, made.body_hash);
}

describe('a template verb whose n-th statement fails leaves nothing half-done, and a retry works', () => {
  it('create', async () => {
    const id = newName();
    expect((await holds(() => bench.templates.create(me(), fields({ id })))).version).toBe(1);
  });

  it('write over a draft, and open one over a release', async () => {
    const draft = await template();
    const written = await holds(() =>
      bench.templates.update(me(), fields({ id: draft.id, body: 'SELECT 2' }), draft.body_hash),
    );
    expect(written.version).toBe(1);
    const released = await releasedTemplate();
    const opened = await holds(() =>
      bench.templates.update(me(), fields({ id: released.id, body: 'SELECT 2' }), released.body_hash),
    );
    expect([opened.version, opened.status]).toEqual([2, 'DRAFT']);
  });

  it('release', async () => {
    const library = await releasedTemplate({ is_library: true, body: '<#macro m>1</#macro>' });
    const draft = await template({ imports: [{ id: library.id, version: 1, alias: 'L' }], body: 'SELECT <@L.m/>' });
    const released = await holds(() => bench.templateLifecycle.release(me(), draft.id, draft.body_hash));
    expect([released.status, released.current_version]).toEqual(['RELEASED', 1]);
  });

  it('discard, restore and switch', async () => {
    const one = await releasedTemplate();
    const two = await bench.templates.update(me(), fields({ id: one.id, body: 'SELECT 2' }), one.body_hash);
    await bench.templateLifecycle.release(me(), one.id, two.body_hash);
    expect((await holds(() => bench.templateLifecycle.discard(me(), one.id, 2))).current_version).toBe(1);
    expect((await holds(() => bench.templateLifecycle.restore(me(), one.id, 2))).current_version).toBe(2);
    expect((await holds(() => bench.templateLifecycle.switchCurrent(me(), one.id, 1))).current_version).toBe(1);
  });

  it('purge a draft beside a release, and a template that is nothing but a draft', async () => {
    const one = await releasedTemplate();
    const draft = await bench.templates.update(me(), fields({ id: one.id, body: 'SELECT 2' }), one.body_hash);
    await holds(() => bench.templateLifecycle.purgeDraft(me(), one.id, draft.body_hash));
    const sole = await template();
    await holds(() => bench.templateLifecycle.purge(me(), sole.id));
    expect((await bench.templates.create(me(), fields({ id: sole.id }))).version).toBe(1);
  });

  it('import a library and what imports it', async () => {
    const library = await releasedTemplate({ is_library: true, body: '<#macro m>1</#macro>' });
    const user = await releasedTemplate({
      imports: [{ id: library.id, version: 1, alias: 'L' }],
      body: 'SELECT <@L.m/>',
    });
    const file = readJson(writeJson({ templates: [user, library] })) as JsonObject;
    const transfer = bench.instance.get(TemplateTransfer);
    const report = await holds(() => transfer.import(elsewhere.principal(), file));
    expect(report.templates.map(({ imported }) => imported)).toEqual([true, true]);
  });
});

describe('a pipeline verb whose n-th statement fails leaves nothing half-done, and a retry works', () => {
  const released = async (): Promise<PipelineView> => bench.released();

  it('create, and write over the draft', async () => {
    const body = bench.body();
    const made = await holds(() => bench.authoring.create(me(), body));
    const changed = bench.rewrite(made, { description: 'changed' });
    expect((await holds(() => bench.authoring.update(me(), made.id, changed, made.body_hash))).version).toBe(1);
  });

  it('release with its pinned draft templates: all of them, or none', async () => {
    const made = await bench.authoring.create(me(), bench.body());
    const done = await holds(() =>
      bench.lifecycle.release(me(), made.id, made.body_hash, { releasePinnedTemplates: true }),
    );
    expect(done.status).toBe('RELEASED');
  });

  it('open a draft, discard, restore and switch', async () => {
    const one = await released();
    const draft = await holds(() =>
      bench.authoring.update(me(), one.id, bench.rewrite(one, { description: 'two' }), one.body_hash),
    );
    await bench.lifecycle.release(me(), one.id, draft.body_hash, { releasePinnedTemplates: true });
    expect((await holds(() => bench.lifecycle.discard(me(), one.id, 2))).current_version).toBe(1);
    expect((await holds(() => bench.lifecycle.restore(me(), one.id, 2))).current_version).toBe(2);
    expect((await holds(() => bench.lifecycle.switchCurrent(me(), one.id, 1))).current_version).toBe(1);
  });

  it('purge a draft, and a pipeline together with the draft templates only it pins', async () => {
    const one = await released();
    const draft = await bench.authoring.update(me(), one.id, bench.rewrite(one, { description: 'two' }), one.body_hash);
    await holds(() => bench.lifecycle.purgeDraft(me(), one.id, draft.body_hash));
    bench.template = await bench.newTemplate();
    const sole = await bench.authoring.create(me(), bench.body());
    await holds(() => bench.lifecycle.purge(me(), sole.id, { includeExclusiveDraftTemplates: true }));
  });

  it('import with its templates', async () => {
    const one = await released();
    const transfer = bench.instance.get(PipelineTransfer);
    const sent = readJson(writeJson(await transfer.export(me(), one.id, { includeTemplates: true }))) as JsonObject;
    await bench.db.database.execute('DELETE FROM pipeline_versions WHERE pipeline_id = $1', [one.id]);
    await bench.db.database.execute('DELETE FROM pipelines WHERE id = $1', [one.id]);
    await holds(() => transfer.import(elsewhere.principal(), sent));
  });
});

describe('two imports of one name at once', () => {
  it('the loser is told the name is taken, not that the server failed', async () => {
    const one = await bench.released();
    const transfer = bench.instance.get(PipelineTransfer);
    const sent = readJson(writeJson(await transfer.export(me(), one.id, { includeTemplates: true }))) as JsonObject;
    await bench.db.database.execute('DELETE FROM pipeline_versions WHERE pipeline_id = $1', [one.id]);
    await bench.db.database.execute('DELETE FROM pipelines WHERE id = $1', [one.id]);
    const twin = readJson(writeJson(sent).replaceAll(one.id, crypto.randomUUID())) as JsonObject;
    const outcomes = await Promise.allSettled([sent, twin].map((file) => transfer.import(elsewhere.principal(), file)));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const loser = outcomes.find((outcome) => outcome.status === 'rejected')!;
    expect((await refusal(Promise.reject(loser.reason as Error))).code).toBe('pipeline.validation.duplicate_name');
  });
});
