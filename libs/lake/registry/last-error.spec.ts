import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, it } from '@jest/globals';

import { lakeScene } from '../lake.fixture.js';
import { LakeTableRepository } from './lake-table.repository.js';

const scene = lakeScene();
const root = (name: string): string => join(scene.folder, 'roots', name);
const repository = new LakeTableRepository();

interface Row {
  id: string;
  last_error: string | null;
  last_error_at: string | null;
  /** Of the transaction that wrote the row last: the same means that nothing was written. */
  written: string;
}

const row = async (): Promise<Row> => {
  const sql = 'SELECT id, last_error, last_error_at::text, xmin::text AS written FROM lake_tables';
  return (await scene.db.database.query<Row>(sql))[0]!;
};

beforeEach(async () => {
  await scene.make(`COPY (SELECT 1 AS id) TO '${root('orders.parquet')}'`);
  await scene.registered('lake');
  const table = { namespace: 'sales', name: 'orders', format: 'parquet', location: `file://${root('orders.parquet')}` };
  await scene.bench.tables.register(scene.team.author, 'lake', table);
});

describe('the last error of a lake table', () => {
  const outcome = async (problem: string | null): Promise<Row> => {
    await repository.recordOutcomes(scene.db.database, [{ id: (await row()).id, problem }]);
    return row();
  };

  it('is written at a transition only; another text changes the text alone, so the stamp reads “broken since”', async () => {
    const whole = await row();
    expect([whole.last_error, whole.last_error_at]).toEqual([null, null]);
    expect(await outcome(null)).toEqual(whole);
    const broken = await outcome('no file');
    expect([broken.last_error, broken.last_error_at]).toEqual(['no file', expect.any(String)]);
    expect(await outcome('no file')).toEqual(broken);
    const otherwise = await outcome('not a parquet file');
    expect([otherwise.last_error, otherwise.last_error_at]).toEqual(['not a parquet file', broken.last_error_at]);
    expect(otherwise.written).not.toBe(broken.written);
    expect(await outcome('not a parquet file')).toEqual(otherwise);
    const mended = await outcome(null);
    expect([mended.last_error, mended.last_error_at]).toEqual([null, null]);
    const anew = await outcome('no file');
    expect(Date.parse(anew.last_error_at!)).toBeGreaterThan(Date.parse(broken.last_error_at!));
  });

  it('follows what each new engine meets: gone, then garbage, then garbage again, then whole', async () => {
    const build = async (): Promise<Row> => {
      await (await scene.another()).read('lake', 'SELECT 1');
      return row();
    };
    renameSync(root('orders.parquet'), root('kept'));
    const gone = await build();
    expect(gone.last_error).toMatch(/no file/i);
    writeFileSync(root('orders.parquet'), 'PAR1 this is no parquet file PAR1');
    const garbage = await build();
    expect([garbage.last_error === gone.last_error, garbage.last_error_at]).toEqual([false, gone.last_error_at]);
    expect(await build()).toEqual(garbage);
    renameSync(root('kept'), root('orders.parquet'));
    const mended = await build();
    expect([mended.last_error, mended.last_error_at]).toEqual([null, null]);
  });

  it('of a table that was unregistered meanwhile is nobody’s', async () => {
    const { id } = await row();
    await scene.bench.tables.unregister(scene.team.author, 'lake', { namespace: 'sales', table: 'orders' });
    await repository.recordOutcomes(scene.db.database, [{ id, problem: 'no file' }]);
    expect(await row()).toBeUndefined();
  });
});
