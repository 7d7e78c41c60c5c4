import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, it } from '@jest/globals';

import { writeState } from './iceberg/iceberg-table.fixture.js';
import { lakeScene, refusal } from './lake.fixture.js';

const scene = lakeScene();
const root = (...parts: string[]): string => join(scene.folder, 'roots', 'ice', ...parts);
const field = (id: number, name: string, type: unknown) => ({ id, name, type, required: false });
const register = (name: string, location = `file://${root()}`) =>
  scene.bench.tables.register(scene.team.author, 'lake', { namespace: 'ice', name, format: 'iceberg', location });
const FIELDS = [field(1, 'id', 'long'), field(2, 'label', 'string')];
const file = (name: string) => ({ path: root('data', `${name}.parquet`) });

beforeEach(async () => {
  mkdirSync(root('data'), { recursive: true });
  await scene.make(
    `COPY (SELECT 1::INT AS old_id, 'a' AS label, 9 AS dropped) TO '${file('a').path}' (FIELD_IDS {old_id: 1, label: 2, dropped: 3})`,
    `COPY (SELECT 'b' AS label, 9007199254740993 AS id, 1.50::DECIMAL(9,2) AS price) TO '${file('[b]').path}' (FIELD_IDS {id: 1, label: 2, price: 4})`,
  );
  await scene.registered('lake');
});

describe('an Iceberg table of a lake', () => {
  it('is read by field ids, also out of files whose names read as patterns', async () => {
    await writeState(root(), 1, { fields: [...FIELDS, field(4, 'price', 'decimal(9, 2)')], files: [file('a'), file('[b]')] });
    await register('t');
    expect(await scene.bench.read('lake', 'SELECT * FROM t ORDER BY id')).toEqual([[1n, 'a', null], [9007199254740993n, 'b', 150n]]);
  }); // prettier-ignore

  it('is followed to its newest state from its folder, and stands still at a metadata file', async () => {
    const first = await writeState(root(), 2, { fields: FIELDS, files: [file('a')] });
    await writeState(root(), 10, { fields: [field(1, 'renamed', 'long')], files: [file('a'), file('[b]'), { ...file('gone'), status: 2 }] });
    await register('newest');
    await register('pinned', `file://${first}`);
    expect(await scene.bench.read('lake', 'SELECT renamed FROM newest ORDER BY 1')).toEqual([[1n], [9007199254740993n]]);
    expect(await scene.bench.read('lake', 'SELECT * FROM pinned')).toEqual([[1n, 'a']]);
    await writeState(root(), 11, { fields: [field(1, 'again', 'long')], files: [file('[b]')] });
    expect(await (await scene.another()).read('lake', 'SELECT again FROM newest')).toEqual([[9007199254740993n]]);
  }); // prettier-ignore

  it('is empty with its columns before its first snapshot', async () => {
    await writeState(root(), 1, { fields: FIELDS, more: { 'current-snapshot-id': -1 } });
    await register('t');
    expect(await scene.bench.read('lake', 'SELECT * FROM t')).toEqual([]);
    const columns = await scene.bench.datasources.introspection.columns(scene.team.author, 'lake', { table: 't' });
    expect(columns.map(({ name, type }) => [name, type])).toEqual([['id', 'BIGINTEGER'], ['label', 'STRING']]);
  }); // prettier-ignore

  it('that turns hostile after it was registered breaks itself and not the lake, and is not registered again', async () => {
    await writeState(root(), 1, { fields: FIELDS, files: [file('a')] });
    await register('t');
    await scene.make(`COPY (SELECT 7 AS v) TO '${join(scene.folder, 'roots', 'plain.parquet')}'`);
    const plain = { namespace: 'ice', name: 'plain', format: 'parquet', location: `file://${join(scene.folder, 'roots', 'plain.parquet')}` };
    await scene.bench.tables.register(scene.team.author, 'lake', plain);
    await writeState(root(), 2, { fields: [...FIELDS, field(5, 'where', 'geography')], files: [file('a')] });
    const fresh = await scene.another();
    expect(await fresh.read('lake', 'SELECT v FROM plain')).toEqual([[7]]);
    const [, broken] = (await fresh.tables.list(scene.team.viewer, 'lake')).tables;
    expect(broken?.last_error).toMatch(/geography/);
    const refused = await refusal(register('bad'));
    expect([refused.code, refused.details['reason']]).toEqual([
      'datasource.validation.lake_table_unreadable', expect.stringMatching(/geography/),
    ]);
    expect((await fresh.tables.list(scene.team.viewer, 'lake')).count).toBe(2);
  }); // prettier-ignore

  it('tells its rows and NULLs from its manifests', async () => {
    const counted = { ...file('a'), records: 4, nulls: { 1: 1 } };
    await writeState(root(), 1, { fields: FIELDS, files: [counted, counted] });
    await register('t');
    expect(await scene.bench.datasources.statistics.read(scene.team.author, 'lake', { table: 't' })).toEqual({
      row_estimate: 8,
      stats_source: 'iceberg_manifest',
      partition_column: null,
      indexes: [],
      columns: [
        { name: 'id', distinct_is_ratio: false, null_fraction: 0.25 },
        { name: 'label', distinct_is_ratio: false },
      ],
    });
  });
});
