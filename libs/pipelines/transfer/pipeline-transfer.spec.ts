import { beforeAll, describe, expect, it } from '@jest/globals';
import { readJson, writeJson, type JsonObject } from '#libs/kernel';
import { PipelineTransfer } from '#libs/pipelines';
import { TemplateTransfer } from '#libs/templates';
import { createWorkspace, type TestWorkspace } from '../../../test/fixtures/authors.js';
import { usePipelineBench } from '../../../test/fixtures/pipeline-bench.js';
import { createDatasource, failuresOf, refusal } from '../../../test/fixtures/pipelines.js';

const bench = usePipelineBench();
let transfer: PipelineTransfer;
let elsewhere: TestWorkspace;

beforeAll(async () => {
  transfer = bench.instance.get(PipelineTransfer);
  elsewhere = await createWorkspace(bench.db.database);
  await createDatasource(bench.db.database, elsewhere, 'pg-elsewhere');
  await bench.db.database.execute(
    `INSERT INTO datasource_workspaces (datasource_name, workspace_id, granted_by) VALUES ('pg', $1, $2)`,
    [elsewhere.id, elsewhere.principal().userId],
  );
});

type File = Record<'pipeline' | 'manifest', Record<string, unknown>> & { templates: Record<string, unknown>[] };

/** As it travels: text, read again by the exact reader. */
async function exported(id: string): Promise<{ text: string; file: File }> {
  const text = writeJson(await transfer.export(bench.team.principal(), id, { includeTemplates: true }));
  return { text, file: readJson(text) as unknown as File };
}

/** A file about a pipeline of its own, so that it is new wherever it goes. */
async function strange(over: Record<string, unknown> = {}): Promise<File> {
  const made = await bench.released(over);
  const { file } = await exported(made.id);
  const { id: _id, ...pipeline } = file.pipeline;
  return { ...file, pipeline };
}

const sent = (file: unknown): JsonObject => readJson(writeJson(file as JsonObject)) as JsonObject;
const counts = async (): Promise<unknown> =>
  bench.db.database.query(`SELECT (SELECT count(*) FROM pipelines) AS p, (SELECT count(*) FROM pipeline_versions) AS pv,
    (SELECT count(*) FROM templates) AS t, (SELECT count(*) FROM template_versions) AS tv`);

describe('a pipeline as a file', () => {
  it('holds one release, its templates libraries first, and their hashes', async () => {
    const library = await bench.newTemplate({ is_library: true, body: '<#macro m>1</#macro>' });
    bench.template = await bench.newTemplate({
      imports: [{ id: library, version: 1, alias: 'L' }],
      body: 'SELECT <@L.m/>',
    });
    const made = await bench.released({ parameters: { x: { type: 'DECIMAL', precision: 4, scale: 2, default: 1.1 } } });
    const { file } = await exported(made.id);
    expect(file.pipeline).toMatchObject({ id: made.id, status: 'RELEASED', body_hash: made.body_hash });
    expect(file.templates.map(({ id }) => id)).toEqual([library, bench.template]);
    expect(file.manifest).toMatchObject({ pipeline_id: made.id });
    expect(String(file.manifest['template_count'])).toBe('2');
  });

  it('lands in another workspace with the same hashes, released, current, and unchanged when it comes again', async () => {
    const file = await strange({ description: 'naïve 🚚 1.10' });
    const report = await transfer.import(elsewhere.principal(), sent(file));
    expect(report).toMatchObject({ imported: true, templates: [{ id: bench.template, imported: true }] });
    expect(report.pipeline).toMatchObject({
      status: 'RELEASED',
      version: 1,
      current_version: 1,
      body_hash: file.pipeline['body_hash'],
    });
    const before = await counts();
    const again = await transfer.import(elsewhere.principal(), sent(file));
    expect([again.imported, again.templates[0]?.imported]).toEqual([false, false]);
    expect(await counts()).toEqual(before);
  });

  it('keeps when it and its templates were released, and names the importer as who released them here', async () => {
    const file = await strange();
    const importer = elsewhere.principal();
    const stamp = '2024-02-29T23:59:59.123456Z';
    const templateStamp = '2023-12-31T00:00:00.000001Z';
    const dated = {
      ...file,
      pipeline: { ...file.pipeline, released_at: stamp },
      templates: file.templates.map((each) => ({ ...each, released_at: templateStamp })),
    };
    const { pipeline } = await transfer.import(importer, sent(dated));
    expect(bench.team.principal().userId).not.toBe(importer.userId);
    expect(pipeline).toMatchObject({ version: 1, status: 'RELEASED' });
    const rows = await bench.db.database.query(
      `SELECT v.released_at = $2::timestamptz AS kept, v.released_by AS by
         FROM pipeline_versions v WHERE v.pipeline_id = $1
       UNION ALL
       SELECT v.released_at = $5::timestamptz, v.released_by
         FROM templates t JOIN template_versions v ON v.template_id = t.id
        WHERE t.workspace_id = $3 AND t.name = $4`,
      [pipeline.id, stamp, elsewhere.id, bench.template, templateStamp],
    );
    expect(rows).toEqual([
      { kept: true, by: importer.userId },
      { kept: true, by: importer.userId },
    ]);
  });

  it('never moves a pointer that is set, and never opens a draft', async () => {
    const made = await bench.released();
    const { file } = await exported(made.id);
    const next = {
      ...file,
      pipeline: { ...file.pipeline, version: undefined, body_hash: undefined, description: 'two' },
    };
    const { pipeline } = await transfer.import(bench.team.principal(), sent(next));
    expect(pipeline).toMatchObject({ version: 2, status: 'RELEASED', current_version: 1 });
    expect(pipeline).not.toHaveProperty('draft');
  });

  it('works where authoring is off, because such a deployment receives', async () => {
    const { authoringInstance } = await import('../../../test/fixtures/pipelines.js');
    const file = await strange();
    const receiver = await authoringInstance(bench.db.database, {
      DATAPIPELINES_DEPLOYMENT_AUTHORING_ENABLED: 'false',
    });
    try {
      const report = await receiver.get(PipelineTransfer).import(elsewhere.principal(), sent(file));
      expect(report.imported).toBe(true);
    } finally {
      await receiver.close();
    }
  });

  it('is refused for a pipeline that was never released, because there is nothing to carry', async () => {
    const draft = await bench.authoring.create(bench.team.principal(), bench.body());
    const error = await refusal(transfer.export(bench.team.principal(), draft.id, { includeTemplates: true }));
    expect([error.code, error.status]).toEqual(['pipeline.promotion.not_released', 409]);
  });

  it('of another workspace is not found', async () => {
    const made = await bench.released();
    const error = await refusal(transfer.export(elsewhere.principal(), made.id, { includeTemplates: true }));
    expect([error.code, error.status]).toEqual(['pipeline.execution.not_found', 404]);
  });
});

describe('a file that cannot be imported stores nothing and says why', () => {
  const cases: [string, (file: File) => unknown, string, number][] = [
    [
      'a body that was changed',
      (f) => ({ ...f, pipeline: { ...f.pipeline, description: 'x' } }),
      'pipeline.import.hash_mismatch',
      400,
    ],
    [
      'a version without its hash',
      (f) => ({ ...f, pipeline: { ...f.pipeline, body_hash: undefined } }),
      'pipeline.import.hash_mismatch',
      400,
    ],
    [
      'a hash that is none',
      (f) => ({ ...f, pipeline: { ...f.pipeline, body_hash: 'zz' } }),
      'pipeline.import.hash_mismatch',
      400,
    ],
    [
      'a template that was changed',
      (f) => ({ ...f, templates: f.templates.map((t) => ({ ...t, body: 'SELECT 2' })) }),
      'template.version.conflict',
      409,
    ],
    ['missing templates', (f) => ({ ...f, templates: [] }), 'pipeline.import.missing_template', 400],
    [
      'a template twice',
      (f) => ({ ...f, templates: [...f.templates, ...f.templates] }),
      'pipeline.execution.invalid_parameter_type',
      400,
    ],
    ['templates that are no list', (f) => ({ ...f, templates: 7 }), 'pipeline.execution.invalid_parameter_type', 400],
    ['a pipeline that is no object', (f) => ({ ...f, pipeline: [] }), 'pipeline.execution.invalid_parameter_type', 400],
    ['a member that is none', (f) => ({ ...f, endpoints: [] }), 'pipeline.execution.invalid_parameter_type', 400],
    [
      'an id that is no UUID',
      (f) => ({ ...f, pipeline: { ...f.pipeline, id: '7' } }),
      'pipeline.execution.invalid_parameter_type',
      400,
    ],
    [
      'a version below one',
      (f) => ({ ...f, pipeline: { ...f.pipeline, version: 0 } }),
      'pipeline.execution.invalid_parameter_type',
      400,
    ],
    [
      'a day that does not exist',
      (f) => ({ ...f, pipeline: { ...f.pipeline, released_at: '2026-02-30T00:00:00Z' } }),
      'pipeline.execution.invalid_parameter_type',
      400,
    ],
  ];
  it.each(cases)('%s', async (_, change, code, status) => {
    const file = await strange();
    const before = await counts();
    const error = await refusal(transfer.import(elsewhere.principal(), sent(change(file))));
    expect([error.code, error.status]).toEqual([code, status]);
    expect(await counts()).toEqual(before);
  });

  it('a template under the hash of another: the true one is not rendered as the false one afterwards', async () => {
    const file = await strange();
    const poisoned = { ...file, templates: file.templates.map((each) => ({ ...each, body: 'SELECT :nowhere' })) };
    const error = await refusal(transfer.import(elsewhere.principal(), sent(poisoned)));
    expect([error.code, failuresOf(error)[0]?.details]).toEqual([
      'template.version.conflict',
      expect.objectContaining({ reason: 'hash_mismatch' }),
    ]);
    expect((await transfer.import(elsewhere.principal(), sent(file))).imported).toBe(true);
  });

  it('names every missing datasource and template at once', async () => {
    await createDatasource(bench.db.database, bench.team, 'pg-here-only');
    const file = await strange({
      nodes: [
        bench.node({ source: 'pg-here-only', output: { target: 'tempdb', table: 'a' } }),
        bench.node({ id: 'm' }),
      ],
    });
    const error = await refusal(transfer.import(elsewhere.principal(), sent({ ...file, templates: [] })));
    expect(error.code).toBe('pipeline.import.missing_datasource');
    expect(failuresOf(error).map(({ code, path }) => [code, path])).toEqual([
      ['pipeline.import.missing_datasource', 'pipeline.nodes[0].source'],
      ['pipeline.import.missing_template', 'pipeline.nodes[0].template.id'],
      ['pipeline.import.missing_template', 'pipeline.nodes[1].template.id'],
    ]);
  });

  it('names a key of the organisation that the body binds and this deployment does not have, once for all nodes', async () => {
    const { pipeline, templates } = await strange({
      nodes: [bench.node(), bench.node({ id: 'm', output: { target: 'tempdb', table: 't' } })],
    });
    // A template alone may bind any key: which there are is asked where a pipeline runs it.
    const { id, dialect, display_name, description } = templates[0]!;
    const template = { id: `${String(id)}-org`, dialect, display_name, description, body: 'SELECT :org_cost_centre' };
    await bench.instance.get(TemplateTransfer).import(elsewhere.principal(), sent({ templates: [template] }));
    const { version: _version, body_hash: _hash, ...body } = pipeline;
    const pin = { id: template.id, version: 1 };
    const nodes = (body['nodes'] as JsonObject[]).map((node) => ({ ...node, template: pin }));
    const before = await counts();
    const error = await refusal(transfer.import(elsewhere.principal(), sent({ pipeline: { ...body, nodes } })));
    expect([error.code, error.status]).toEqual(['pipeline.import.context_key_missing', 409]);
    expect(error.details).toMatchObject({ context_keys: ['org_cost_centre'] });
    expect(error.message).toContain('org_cost_centre');
    expect(await counts()).toEqual(before);
  });

  it('takes a pin that is only a draft here for a missing one', async () => {
    const file = await strange();
    await bench.templates.create(elsewhere.principal(), { ...sent(file.templates[0]), version: undefined } as never);
    const error = await refusal(transfer.import(elsewhere.principal(), sent({ ...file, templates: [] })));
    expect(error.code).toBe('pipeline.import.missing_template');
    expect(failuresOf(error)[0]?.details).toMatchObject({ template_status: 'DRAFT' });
  });

  it('refuses a number that is taken by another body, with both hashes', async () => {
    const made = await bench.released();
    const { file } = await exported(made.id);
    const other = await bench.released();
    const foreign = (await exported(other.id)).file;
    const clash = { ...foreign.pipeline, id: made.id, name: made.name };
    const hash = await bench.db.database.query<{ hash: string }>(
      `SELECT encode(sha256(convert_to((body_json || jsonb_build_object('name', $2::text, 'description', 'other'))::text, 'UTF8')), 'hex') AS hash
         FROM pipeline_versions WHERE pipeline_id = $1`,
      [other.id, made.name],
    );
    const body = { ...clash, description: 'other', body_hash: hash[0]!.hash };
    const error = await refusal(transfer.import(bench.team.principal(), sent({ ...file, pipeline: body })));
    expect([error.code, error.status]).toEqual(['pipeline.import.version_conflict', 409]);
    expect(error.details).toMatchObject({
      body_hash: hash[0]!.hash,
      current_body_hash: made.body_hash,
      current_status: 'RELEASED',
    });
  });

  it('does not tell an id of another workspace from a taken name', async () => {
    const made = await bench.released();
    const { file } = await exported(made.id);
    const error = await refusal(transfer.import(elsewhere.principal(), sent(file)));
    expect([error.code, error.status]).toEqual(['pipeline.validation.duplicate_name', 409]);
  });

  it('lets one of two equal imports store it, and both report the same release', async () => {
    const file = await strange();
    const reports = await Promise.allSettled([1, 2].map(() => transfer.import(elsewhere.principal(), sent(file))));
    const landed = reports.filter((report) => report.status === 'fulfilled');
    expect(landed.some((report) => report.value.imported)).toBe(true);
    const rows = await bench.db.database.query(
      'SELECT v.version FROM pipelines p JOIN pipeline_versions v ON v.pipeline_id = p.id WHERE p.workspace_id = $1 AND p.name = $2',
      [elsewhere.id, file.pipeline['name']],
    );
    expect(rows).toHaveLength(1);
  });
});
