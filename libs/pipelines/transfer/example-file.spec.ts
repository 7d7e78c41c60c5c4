import { afterAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_WORKSPACE_ID } from '#libs/identity';
import { writeJson } from '#libs/kernel';
import { ExampleFile, PipelineTransfer } from '#libs/pipelines';
import { usePipelineBench } from '../../../test/fixtures/pipeline-bench.js';
import { authoringInstance, refusal } from '../../../test/fixtures/pipelines.js';

const bench = usePipelineBench();
const folder = mkdtempSync(join(tmpdir(), 'penstock-examples-'));

afterAll(() => rmSync(folder, { recursive: true }));

/** An export as a person would save it, without the id that holds it to its first workspace. */
async function exported(): Promise<{ name: string; file: Record<string, unknown> }> {
  const made = await bench.released();
  const principal = bench.team.principal();
  const file = await bench.instance.get(PipelineTransfer).export(principal, made.id, { includeTemplates: true });
  const { id: _id, ...pipeline } = file.pipeline;
  return { name: String(made['name']), file: { ...file, pipeline } };
}

/** A start with this text as the file; undefined: without one. */
async function start(text: string | undefined): Promise<string[]> {
  const path = join(folder, 'examples.json');
  if (text !== undefined) writeFileSync(path, text);
  const instance = await authoringInstance(
    bench.db.database,
    text === undefined ? {} : { DATAPIPELINES_BOOTSTRAP_EXAMPLES_FILE: path },
  );
  try {
    return await instance.get(ExampleFile).bring();
  } finally {
    await instance.close();
  }
}

const grantPg = async (): Promise<number> =>
  bench.db.database.execute(
    `INSERT INTO datasource_workspaces (datasource_name, workspace_id, granted_by) VALUES ('pg', $1, $2)
     ON CONFLICT DO NOTHING`,
    [DEFAULT_WORKSPACE_ID, bench.team.principal().userId],
  );
const atHome = async (): Promise<{ name: string; status: string; display: string }[]> =>
  bench.db.database.query(
    `SELECT p.name, v.status, p.display_name AS display FROM pipelines p
       JOIN pipeline_versions v ON v.pipeline_id = p.id WHERE p.workspace_id = $1 ORDER BY p.name, v.version`,
    [DEFAULT_WORKSPACE_ID],
  );

describe('pipelines that are there from the first start', () => {
  it('land released in the default workspace, once: what people made of them since stays theirs', async () => {
    await grantPg();
    const [first, second] = [await exported(), await exported()];
    const text = writeJson([first.file, second.file] as never);
    expect(await start(text)).toEqual([first.name, second.name]);
    expect((await atHome()).map(({ name, status }) => [name, status])).toEqual(
      [first.name, second.name].sort().map((name) => [name, 'RELEASED']),
    );
    await bench.db.database.execute(`UPDATE pipelines SET display_name = 'Ours' WHERE workspace_id = $1`, [
      DEFAULT_WORKSPACE_ID,
    ]);
    const before = await atHome();
    expect(await start(text)).toEqual([]);
    expect(await atHome()).toEqual(before);
  });

  it('two instances that start at once bring one', async () => {
    await grantPg();
    const { name, file } = await exported();
    const brought = await Promise.all([1, 2].map(() => start(writeJson(file as never))));
    expect(brought.flat()).toEqual(expect.arrayContaining([name]));
    expect((await atHome()).filter((row) => row.name === name)).toHaveLength(1);
  });

  it('a file that is none, and an entry that cannot be imported, stop the start and are named', async () => {
    await grantPg();
    const { file } = await exported();
    const before = await atHome();
    for (const [text, why] of [
      ['{', /examples-file: The file is no JSON/],
      ['[1]', /examples-file: The file holds one exported pipeline/],
      [writeJson([{ ...file, pipeline: { name: 'x' } }] as never), /examples-file: entry 0 cannot be imported/],
    ] as const) {
      expect((await refusal(start(text))).message).toMatch(why);
    }
    rmSync(join(folder, 'examples.json'), { force: true });
    expect(await atHome()).toEqual(before);
  });

  it('are none where no file is named, and where the default workspace is not active', async () => {
    expect(await start(undefined)).toEqual([]);
    const { file } = await exported();
    const active = (at: string): Promise<number> =>
      bench.db.database.execute(`UPDATE workspaces SET deactivated_at = ${at} WHERE id = $1`, [DEFAULT_WORKSPACE_ID]);
    await active('now()');
    expect(await start(writeJson(file as never))).toEqual([]);
    await active('NULL');
  });
});
