import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, it } from '@jest/globals';

import { isPenstockError } from '#libs/kernel';

import { lakeScene, refusal } from './lake.fixture.js';

const scene = lakeScene();
const root = (name: string): string => join(scene.folder, 'roots', name);
const table = (name: string) => ({ name, namespace: 'n', format: 'parquet', location: `file://${root(name)}.parquet` });
let good: Buffer;

beforeEach(async () => {
  await scene.make(
    `COPY (SELECT i AS id, 'text ' || i AS t, [i, i + 1] AS l, i::DECIMAL(9,2) AS d FROM range(3000) r(i)) TO '${root('good.parquet')}' (ROW_GROUP_SIZE 2048)`,
  );
  good = readFileSync(root('good.parquet'));
  await scene.registered('lake');
});

/** Numbers that look random and are the same in every run. */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

describe('damaged Parquet files', () => {
  it('cut anywhere are refused together with what is wrong with each, and nothing is stored', async () => {
    const cuts = [0, 1, 4, 8, 12, Math.floor(good.length / 2), good.length - 9, good.length - 8, good.length - 4, good.length - 1];
    for (const length of cuts) {
      writeFileSync(root(`cut${length}.parquet`), good);
      truncateSync(root(`cut${length}.parquet`), length);
    }
    const tables = cuts.map((length) => table(`cut${length}`));
    const refused = await refusal(scene.bench.imports.import(scene.team.author, 'lake', { tables }));
    expect(refused.failures).toEqual(cuts.map((_, index) => `lake_table_unreadable tables[${index}]`));
    expect((await scene.bench.tables.list(scene.team.viewer, 'lake')).count).toBe(0);
  }); // prettier-ignore

  it('whose late rows cannot be read end a query as a cut stream after its first rows: never as a shorter result', async () => {
    const file = root('late.parquet');
    await scene.make(`COPY (SELECT i AS id, md5(i::VARCHAR) AS t FROM range(200000) r(i)) TO '${file}' (ROW_GROUP_SIZE 8192)`);
    await scene.bench.tables.register(scene.team.author, 'lake', table('late'));
    const pages = `SELECT coalesce(dictionary_page_offset, data_page_offset)::INTEGER, total_compressed_size::INTEGER FROM parquet_metadata('${file}') WHERE path_in_schema = 't' ORDER BY row_group_id DESC LIMIT 1`;
    const [[from, size]] = (await scene.reference(pages)) as [[number, number]];
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0xff, from, from + size));
    await expect(scene.bench.read('lake', 'SELECT id, t FROM n.late')).rejects.toMatchObject({ name: 'DriverFailure', reason: 'stream_cut' });
    expect(await scene.bench.read('lake', 'SELECT id FROM n.late LIMIT 1')).toEqual([[0n]]);
  }); // prettier-ignore

  it('with bytes changed in footer or pages give rows or an error with a code: never an end of the server', async () => {
    const random = sequence(7);
    const footer = good.length - 8 - good.readUInt32LE(good.length - 8);
    const readable: string[] = [];
    for (let index = 0; index < 40; index += 1) {
      const bytes = Buffer.from(good);
      const from = index % 2 === 0 ? footer : 4;
      for (let change = 0; change <= index % 3; change += 1) bytes[from + random(bytes.length - from)] = random(256);
      writeFileSync(root(`bad${index}.parquet`), bytes);
      const outcome = await scene.bench.tables.register(scene.team.author, 'lake', table(`bad${index}`)).then(
        () => 'registered',
        (error: unknown) => (isPenstockError(error) ? error.code : String(error)),
      );
      expect(['registered', 'datasource.validation.lake_table_unreadable']).toContain(outcome);
      if (outcome === 'registered') readable.push(`bad${index}`);
    }
    for (const name of readable) {
      const outcome = await scene.bench
        .read('lake', `SELECT count(*), max(t), sum(d), sum(len(l)) FROM n.${name}`)
        .then(
          (rows) => rows.length,
          (error: Error) => error.name,
        );
      expect([1, 'DriverFailure', 'PenstockError']).toContain(outcome);
    }
    await scene.bench.tables.register(scene.team.author, 'lake', table('good'));
    expect(await scene.bench.read('lake', 'SELECT count(*) FROM n.good')).toEqual([[3000n]]);
  }, 20_000);
});
