import { describe, expect, it } from '@jest/globals';
import type { Database } from '#libs/persistence';
import { TemplateReading } from '#libs/templates';
import { createWorkspace } from '../../test/fixtures/authors.js';
import { usePipelineBench } from '../../test/fixtures/pipeline-bench.js';
import { createDatasource, document, refusal } from '../../test/fixtures/pipelines.js';
import { PipelineBrowseRepository } from './pipeline-browse.repository.js';
import { PipelineDatasourceReferences, PipelineTemplatePins } from './pipeline-references.js';

const bench = usePipelineBench();

describe('reading', () => {
  it('answers a foreign workspace, and nonsense ids, exactly as if the pipeline did not exist', async () => {
    const one = await bench.released();
    const foreign = (await createWorkspace(bench.db.database)).principal();
    const nowhere = '00000000-0000-4000-8000-000000000000';
    for (const verb of [
      (id: string) => bench.reading.read(foreign, id),
      (id: string) => bench.reading.versions(foreign, id),
      (id: string) => bench.authoring.update(foreign, id, bench.body(), one.body_hash),
      (id: string) => bench.lifecycle.release(foreign, id, one.body_hash),
      (id: string) => bench.lifecycle.discard(foreign, id, 1),
      (id: string) => bench.lifecycle.switchCurrent(foreign, id, 1),
      (id: string) => bench.lifecycle.purge(foreign, id),
      (id: string) => bench.lifecycle.purgeVersion(foreign, id, 1),
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
    expect(await bench.catalog.forRun(foreign.workspace!.id, one.id)).toBeUndefined();
  });

  it('gives executions the draft, else the pointer’s version, and an explicit one exactly', async () => {
    const one = await bench.released({ parameters: { p: { type: 'DECIMAL', precision: 5, scale: 2, default: 1.5 } } });
    expect(await bench.catalog.forRun(bench.team.id, one.id)).toMatchObject({
      version: 1,
      status: 'RELEASED',
      releasedAt: expect.stringMatching(/\.\d{6}Z$/),
    });
    const two = await bench.authoring.update(bench.team.principal(), one.id, bench.rewrite(one), one.body_hash);
    expect(await bench.catalog.forRun(bench.team.id, one.id)).toMatchObject({
      version: 2,
      status: 'DRAFT',
      bodyHash: two.body_hash,
    });
    expect((await bench.catalog.forRun(bench.team.id, one.id, 1))?.document.parameters.get('p')).toMatchObject({
      type: 'DECIMAL',
      precision: 5,
      scale: 2,
    });
    expect(await bench.catalog.released(bench.team.id, one.id)).toMatchObject({ version: 1 });
    expect(await bench.catalog.forRun(bench.team.id, one.id, 3)).toBeUndefined();
    await bench.lifecycle.discard(bench.team.principal(), one.id, 1);
    expect(await bench.catalog.forRun(bench.team.id, one.id, 1)).toBeUndefined();
    expect(await bench.catalog.forRun(bench.team.id, 'nonsense')).toBeUndefined();
  });

  it('filters, searches and browses in the database', async () => {
    const here = await createWorkspace(bench.db.database, 'browse');
    await createDatasource(bench.db.database, here, 'ds-one');
    await createDatasource(bench.db.database, here, 'ds-two');
    const act = here.principal();
    const t = (
      await bench.templates.create(act, {
        id: 't/a.sql',
        dialect: 'POSTGRES',
        display_name: 'a',
        description: '',
        body: 'SELECT 1',
      })
    ).id;
    const make = (name: string, source: string, output?: Record<string, unknown>) =>
      bench.authoring.create(
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
    const page = { first: 10 };
    const names = async (filter: Record<string, string>) =>
      (await bench.reading.list(act, filter, page)).items.map(({ name }) => name);
    expect(await names({ q: 'b_c' })).toEqual(['f/b_c']);
    expect(await names({ q: '%_\\' })).toHaveLength(4);
    expect(await names({ datasource: 'ds-two' })).toEqual(['f/b_c', 'f/bxc']);
    expect(await names({ owner: act.userId })).toHaveLength(4);
    expect(await names({ owner: 'nobody' })).toEqual([]);
    const level = await bench.reading.tree(act, 'f', page);
    expect([level.folders, level.pipelines.map(({ name }) => name), level.total, level.has_more]).toEqual([
      [{ path: 'f/g', segment: 'g', pipeline_count: 1 }],
      ['f/a', 'f/b_c', 'f/bxc'],
      3,
      false,
    ]);
    expect((await bench.reading.list(act, {}, { first: 2, after: 'f/a' })).items.map(({ name }) => name)).toEqual([
      'f/b_c',
      'f/bxc',
    ]);
    expect((await bench.reading.readByName(act, 'f/a')).name).toBe('f/a');
    const references = await bench.instance
      .get(PipelineDatasourceReferences)
      .references(bench.db.database, 'ds-two', [here.id]);
    expect(references).toEqual({
      references: [
        {
          pipeline: 'f/b_c',
          pipeline_id: expect.any(String),
          node_id: 'n',
          pipeline_version: 1,
          version_status: 'DRAFT',
        },
        {
          pipeline: 'f/bxc',
          pipeline_id: expect.any(String),
          node_id: 'n',
          pipeline_version: 1,
          version_status: 'DRAFT',
        },
      ],
      hidden: 0,
    });
    expect(await bench.instance.get(PipelineDatasourceReferences).references(bench.db.database, 'ds-two', [])).toEqual({
      references: [],
      hidden: 2,
    });
    const pins = await bench.instance.get(PipelineTemplatePins).pinsOf(bench.db.database, here.id, t, 1);
    expect(pins.referencing_pipelines).toEqual(['f/a', 'f/b_c', 'f/bxc', 'f/g/one']);
    expect(
      (await bench.instance.get(PipelineTemplatePins).pinsOf(bench.db.database, here.id, t, 2)).references,
    ).toEqual([]);
  });
});

describe('who uses what', () => {
  it('says which working versions pin a template version, each pipeline counted once', async () => {
    const { template } = bench;
    const twice = await bench.released({
      nodes: [bench.node({ output: { target: 'tempdb', table: 'a' } }), bench.node({ id: 'm' })],
    });
    const moved = await bench.released();
    const other = await bench.newTemplate();
    await bench.authoring.update(
      bench.team.principal(),
      moved.id,
      bench.rewrite(moved, { nodes: [bench.node({ template: { id: other, version: 1 } })] }),
      moved.body_hash,
    );
    const use = await bench.instance.get(TemplateReading).usedBy(bench.team.principal(), template);
    expect(use).toMatchObject({ template: { id: template, version: 1 }, scan: 'working_version', pipeline_count: 1 });
    expect(use.references.map(({ pipeline_id, node_id }) => [pipeline_id, node_id])).toEqual([
      [twice.id, 'm'],
      [twice.id, 'n'],
    ]);
  });

  it('tells a reader which nodes could pin a newer release', async () => {
    const { template } = bench;
    const made = await bench.released();
    expect((await bench.reading.read(bench.team.principal(), made.id)).upgrade_available).toEqual([]);
    const [first] = await bench.db.database.query<{ hash: string }>(
      'SELECT v.body_hash AS hash FROM templates t JOIN template_versions v ON v.template_id = t.id WHERE t.name = $1',
      [template],
    );
    const body = { id: template, display_name: 'T', description: '', body: 'SELECT 2' };
    const second = await bench.templates.update(bench.team.principal(), body, first!.hash);
    expect((await bench.reading.read(bench.team.principal(), made.id)).upgrade_available).toEqual([]);
    await bench.templateLifecycle.release(bench.team.principal(), template, second.body_hash);
    expect((await bench.reading.read(bench.team.principal(), made.id)).upgrade_available).toEqual([
      { node_id: 'n', template_id: template, pinned_version: 1, latest_released: 2 },
    ]);
  });

  it('finds references, levels and pages through indexes, so that no question grows with what is stored', async () => {
    await bench.db.database.execute(
      `INSERT INTO pipelines (workspace_id, name, display_name, description, owner_id)
       SELECT $1, CASE i % 2 WHEN 0 THEN 'bulk/deep/f' || i % 10 ELSE 'bulk' END || '/p' || i, 'x', '', $2
         FROM generate_series(1, 20000) AS i`,
      [bench.team.id, bench.team.principal().userId],
    );
    await bench.db.database.execute(
      `INSERT INTO pipeline_versions (pipeline_id, version, body_json, body_hash, created_by)
       SELECT id, 1, jsonb_build_object('nodes', jsonb_build_array(jsonb_build_object(
                'id', 'n', 'source', 'ds' || name, 'template', jsonb_build_object('id', 'bulk/t' || name, 'version', 1)))),
              'x', $1
         FROM pipelines WHERE name LIKE 'bulk/%'`,
      [bench.team.principal().userId],
    );
    await bench.db.database.execute('ANALYZE pipelines');
    await bench.db.database.execute('ANALYZE pipeline_versions');
    const statements: [string, readonly unknown[]][] = [];
    const recording = {
      query: (sql: string, values: readonly unknown[]) => {
        statements.push([sql, values]);
        return Promise.resolve([]);
      },
    } as unknown as Database;
    const pins = new PipelineTemplatePins(recording);
    await pins.pinsOf(recording, bench.team.id, 'bulk/tbulk/p7', 1);
    await pins.usedBy(bench.team.id, 'bulk/tbulk/p7', 1);
    await new PipelineDatasourceReferences().references(recording, 'dsbulk/p7', []);
    for (const [sql, values] of statements) {
      const plan = await bench.db.database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, values);
      const text = plan.map((row) => row['QUERY PLAN']).join('\n');
      expect(text).toContain('px_pipeline_versions_body');
      expect(text).not.toMatch(/Seq Scan on pipeline_versions/);
    }
    expect(statements).toHaveLength(3);
    statements.length = 0;
    const browse = new PipelineBrowseRepository(recording);
    const level = await browse.level(bench.team.id, 'bulk', 'ACTIVE', { first: 20 });
    await browse.keyset(bench.team.id, {}, { first: 20, after: 'bulk/p9' });
    for (const [sql, values] of statements) {
      const plan = await bench.db.database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, values);
      const text = plan.map((row) => row['QUERY PLAN']).join('\n');
      expect(text).toMatch(/px_pipelines_(folder|name)/);
      expect(text).not.toMatch(/Seq Scan on pipelines/);
    }
    expect(statements).toHaveLength(2);
    statements.length = 0;
    // What grows with what it counts reads indexes alone, no row of either table.
    await level.folders();
    await level.count();
    await bench.db.database.query('VACUUM (ANALYZE) pipelines, pipeline_versions');
    for (const [sql, values] of statements) {
      const plan = await bench.db.database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, values);
      const text = plan.map((row) => row['QUERY PLAN']).join('\n');
      expect(text).toMatch(/Index Only Scan using px_pipelines_folder[^]*Index Only Scan using px_pipelines_folder/);
      expect(text).not.toMatch(/Seq Scan on pipelines/);
    }
    expect(statements).toHaveLength(2);
  });
});
