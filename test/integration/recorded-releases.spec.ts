import { beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, writeJson, type JsonObject } from '#libs/kernel';
import { PipelineTransfer } from '#libs/pipelines';
import { TemplatePreview } from '#libs/templates';
import { createWorkspace, type TestWorkspace } from '../fixtures/authors.js';
import { root } from '../fixtures/keeper-state.js';
import { usePipelineBench } from '../fixtures/pipeline-bench.js';
import { createDatasource } from '../fixtures/pipelines.js';

const RECORDED = join(root, 'test/fixtures/recorded');
const bench = usePipelineBench();
let team: TestWorkspace;

function read<T>(release: string, file: string): T {
  return readJson(readFileSync(join(RECORDED, release, file), 'utf8')) as T;
}

type Recorded = JsonObject & { body_hash: string };
interface ReleaseFile {
  pipeline: Recorded;
  templates: (Recorded & { id: string })[];
}
interface Render {
  template: string;
  context: JsonObject;
  mode: 'bound' | 'text';
  shown: unknown;
}

const RELEASES = readdirSync(RECORDED, { withFileTypes: true }).filter((entry) => entry.isDirectory());

beforeAll(async () => {
  team = await createWorkspace(bench.db.database);
  await createDatasource(bench.db.database, bench.team, 'lite', { dialect: 'SQLITE' });
  for (const name of ['pg', 'lite'])
    await bench.db.database.execute(
      'INSERT INTO datasource_workspaces (datasource_name, workspace_id, granted_by) VALUES ($1, $2, $3)',
      [name, team.id, team.principal().userId],
    );
});

it('has a recording of some release', () => expect(RELEASES.length).toBeGreaterThan(0));

describe.each(RELEASES.map(({ name }) => name))('what release %s wrote', (release) => {
  it('is taken in and given out again with the same hashes: a receiver trusts nothing else', async () => {
    const file = read<ReleaseFile>(release, 'release.json');
    const transfer = bench.instance.get(PipelineTransfer);
    const report = await transfer.import(team.principal(), file as unknown as JsonObject);
    expect(report).toMatchObject({ imported: true, pipeline: { body_hash: file.pipeline.body_hash } });
    const again = await transfer.export(team.principal(), report.pipeline.id, { includeTemplates: true });
    const plain = (value: unknown) => JSON.parse(writeJson(value)) as ReleaseFile;
    const { pipeline, templates } = plain(again);
    expect(pipeline).toMatchObject({ ...plain(file).pipeline, id: report.pipeline.id, released_at: expect.anything() });
    expect(templates.map(({ id, body_hash }) => [id, body_hash])).toEqual(
      file.templates.map(({ id, body_hash }) => [id, body_hash]),
    );
  });

  it('renders to the same statements and binds', async () => {
    const renders = read<Render[]>(release, 'renders.json');
    expect(renders.length).toBeGreaterThan(0);
    for (const { template, context, mode, shown } of renders) {
      const request = { name: template, context, ...(mode === 'bound' ? { mode } : {}) };
      const now = await bench.instance.get(TemplatePreview).render(team.principal(), request);
      expect([template, mode, writeJson(now)]).toEqual([template, mode, writeJson(shown)]);
    }
  });

  it('hashes to the same as a draft, numbers in their spelling', async () => {
    const { document, body_hash } = read<{ document: JsonObject; body_hash: string }>(release, 'draft.json');
    const made = await bench.authoring.create(team.principal(), document);
    expect(made.body_hash).toBe(body_hash);
  });
});
