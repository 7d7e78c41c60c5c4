import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';

import { FileRoots } from '#libs/datasources';

import { refuseCrowds } from './file-walk.js';
import { JudgedBefore } from './judged-before.js';
import { ParquetFiles } from './parquet-files.js';

const { signal } = new AbortController();

describe('the Parquet files of a location', () => {
  let instance: DuckDBInstance;
  let engine: DuckDBConnection;
  let folder: string;

  beforeAll(async () => {
    instance = await DuckDBInstance.create(':memory:');
    engine = await instance.connect();
  });
  afterAll(() => {
    engine.disconnectSync();
    instance.closeSync();
  });
  beforeEach(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'penstock-files-')));
    mkdirSync(join(folder, 'in', 'deep'), { recursive: true });
    mkdirSync(join(folder, 'out'));
    for (const name of ['in/a', 'in/deep/b', 'out/secret', 'in/deep/[x]*'])
      await engine.run(`COPY (SELECT 1 AS "${name}") TO '${join(folder, name)}.parquet'`);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const query = async (sql: string) =>
    (await engine.runAndReadAll(sql))
      .getRowsJson()
      .map((row) => row.map((cell) => (cell === null ? null : String(cell))));
  const resolve = (location: string, most = 100) =>
    new ParquetFiles(new FileRoots([folder]), most, new JudgedBefore()).resolve(
      { location: `file://${folder}/${location}` },
      { signal, query },
    );

  it('may hold links to each other, and none that lead out: the engine would show the columns it finds there', async () => {
    symlinkSync(join(folder, 'in', 'a.parquet'), join(folder, 'in', 'link.parquet'));
    expect((await resolve('in/*.parquet')).directories).toEqual([`${folder}/in/`]);
    symlinkSync(join(folder, 'out', 'secret.parquet'), join(folder, 'in', 'deep', 'link.parquet'));
    expect((await resolve('in/*.parquet')).directories).toEqual([`${folder}/in/`]);
    for (const location of ['in/**/*.parquet', 'in/deep/*.parquet', 'in/'])
      await expect(resolve(location)).rejects.toThrow(/link .* leads out/);
    symlinkSync(join(folder, 'out'), join(folder, 'in', 'away'));
    await expect(resolve('in/*/secret.parquet')).rejects.toThrow(/link .* leads out/);
  });

  it('are plain files: a pipe would keep the engine for ever, and nothing could interrupt it', async () => {
    execFileSync('mkfifo', [join(folder, 'in', 'deep', 'pipe.parquet')]);
    symlinkSync(join(folder, 'in', 'deep', 'pipe.parquet'), join(folder, 'in', 'link.parquet'));
    for (const location of ['in/deep/pipe.parquet', 'in/link.parquet'])
      await expect(resolve(location)).rejects.toThrow('"pipe.parquet" is no plain file.');
    // A pattern passes them over.
    expect(await query((await resolve('in/*.parquet')).sql)).toEqual([['1']]);
  });

  it('are known by names that read as patterns: such a folder is opened, another file by its path alone', async () => {
    expect(await resolve('in/a.parquet')).toMatchObject({ directories: [], paths: [`${folder}/in/a.parquet`] });
  });

  it.each(['in/**/*.parquet', 'in/', 'in/*/*.parquet', 'in/**'])(
    'are counted before the engine looks, and the count ends at the limit (%s)',
    async (location) => {
      const many = join(folder, 'in', 'many');
      mkdirSync(many);
      for (let index = 0; index < 300; index += 1) writeFileSync(join(many, `${index}.parquet`), '');
      await expect(resolve(location)).rejects.toThrow(/more than 100 files/);
    },
  );

  it('are not walked to the end when there are a million of them', async () => {
    let given = 0;
    const endless = async function* () {
      for (; given < 1_000_000; given += 1) {
        yield await Promise.resolve({ name: `${given}`, isDirectory: () => false, isSymbolicLink: () => false });
      }
    };
    await expect(refuseCrowds('/data', '*.parquet', 20_000, signal, () => Promise.resolve(endless()))).rejects.toThrow(
      /more than 20000/,
    );
    expect(given).toBe(20_000);
  });

  it('are left when nobody waits any more', async () => {
    const gone = AbortSignal.abort(new Error('gone'));
    await expect(refuseCrowds(join(folder, 'in'), '**', 100, gone)).rejects.toThrow('gone');
  });
});
