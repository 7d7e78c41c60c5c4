import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, it } from '@jest/globals';

import { writeState, type TableState } from './iceberg/iceberg-table.fixture.js';
import { lakeScene, refusal } from './lake.fixture.js';

const scene = lakeScene();
const root = (...parts: string[]): string => join(scene.folder, 'roots', 'ice', ...parts);
const field = (id: number, name: string, type: unknown) => ({ id, name, type, required: false });
const register = (name: string, location = `file://${root()}`) =>
  scene.bench.tables.register(scene.team.author, 'lake', { namespace: 'ice', name, format: 'iceberg', location });
const reasonOf = async (state: TableState, version = 9): Promise<unknown> => {
  await writeState(root(), version, state);
  return (await refusal(register('bad'))).details['reason'];
};
const FIELDS = [field(1, 'id', 'long'), field(2, 'label', 'string')];

beforeEach(async () => {
  mkdirSync(root('data'), { recursive: true });
  await scene.make(
    `COPY (SELECT 1::INT AS old_id, 'a' AS label, 9 AS dropped) TO '${root('data', 'a.parquet')}' (FIELD_IDS {old_id: 1, label: 2, dropped: 3})`,
    `COPY (SELECT 'b' AS label, 9007199254740993 AS id, 1.50::DECIMAL(9,2) AS price) TO '${root('data', 'b.parquet')}' (FIELD_IDS {id: 1, label: 2, price: 4})`,
  );
  await scene.registered('lake');
});
const [A, B] = [{ path: '' }, { path: '' }];
beforeEach(() => {
  A.path = root('data', 'a.parquet');
  B.path = root('data', 'b.parquet');
});

describe('an Iceberg table', () => {
  it.each(['null', 'deflate'] as const)(
    'is read by field ids: renamed, widened, added, dropped, reordered (%s)',
    async (codec) => {
      const fields = [...FIELDS, field(4, 'price', 'decimal(9, 2)')];
      await writeState(root(), 1, { fields, files: [A, B], codec });
      await register('t');
      expect(await scene.bench.read('lake', 'SELECT * FROM t ORDER BY id')).toEqual([[1n, 'a', null], [9007199254740993n, 'b', 150n]]); // prettier-ignore
    },
  );

  it('is followed to its newest state from its folder, and stands still at a metadata file', async () => {
    const first = await writeState(root(), 2, { fields: FIELDS, files: [A] });
    await writeState(root(), 10, { fields: [field(1, 'renamed', 'long')], files: [A, B, { path: root('gone'), status: 2 }] });
    await register('newest');
    await register('pinned', `file://${first}`);
    expect(await scene.bench.read('lake', 'SELECT renamed FROM newest ORDER BY 1')).toEqual([[1n], [9007199254740993n]]);
    expect(await scene.bench.read('lake', 'SELECT * FROM pinned')).toEqual([[1n, 'a']]);
    await writeState(root(), 11, { fields: [field(1, 'again', 'long')], files: [B] });
    expect(await (await scene.another()).read('lake', 'SELECT again FROM newest')).toEqual([[9007199254740993n]]);
  }); // prettier-ignore

  it('is empty with its columns before its first snapshot', async () => {
    await writeState(root(), 1, { fields: FIELDS, more: { 'current-snapshot-id': -1 } });
    await register('t');
    expect(await scene.bench.read('lake', 'SELECT * FROM t')).toEqual([]);
  });

  it('reads files without ids by the name mapping, and refuses them without one', async () => {
    await scene.make(`COPY (SELECT 'x' AS tag, 5 AS ident) TO '${root('data', 'plain.parquet')}'`);
    const files = [{ path: root('data', 'plain.parquet') }, B];
    expect(await reasonOf({ fields: FIELDS, files }, 1)).toMatch(/no name mapping/);
    const mapping = JSON.stringify([{ 'field-id': 1, names: ['id', 'ident'] }, { 'field-id': 2, names: ['tag'] }]);
    await writeState(root(), 2, { fields: FIELDS, files, more: { properties: { 'schema.name-mapping.default': mapping } } });
    await register('t');
    expect(await scene.bench.read('lake', 'SELECT * FROM t ORDER BY id')).toEqual([[5n, 'x'], [9007199254740993n, 'b']]);
  }); // prettier-ignore

  it('is refused wherever its rows could be wrong', async () => {
    const files = [A];
    expect(await reasonOf({ fields: FIELDS, files, manifestContent: 1 })).toMatch(/delete files/);
    expect(await reasonOf({ fields: FIELDS, files: [{ ...A, content: 2 }] })).toMatch(/delete files/);
    expect(await reasonOf({ fields: FIELDS, files: [{ ...A, format: 'ORC' }] })).toMatch(/not Parquet/);
    expect(await reasonOf({ fields: [field(1, 'id', { type: 'struct', fields: [] })], files })).toMatch(/nested/);
    expect(await reasonOf({ fields: [{ ...field(7, 'late', 'int'), 'initial-default': 3 }], files })).toMatch(
      /default/,
    );
    const spec = { 'partition-specs': [{ fields: [{ 'source-id': 4, transform: 'identity', name: 'p' }] }] };
    expect(await reasonOf({ fields: [field(4, 'p', 'int')], files, more: spec })).toMatch(/partition column/);
  });

  it('that turns hostile after it was registered breaks itself and not the lake', async () => {
    await writeState(root(), 1, { fields: FIELDS, files: [A] });
    await register('t');
    await scene.make(`COPY (SELECT 7 AS v) TO '${join(scene.folder, 'roots', 'plain.parquet')}'`);
    const plain = { namespace: 'ice', name: 'plain', format: 'parquet', location: `file://${join(scene.folder, 'roots', 'plain.parquet')}` };
    await scene.bench.tables.register(scene.team.author, 'lake', plain);
    await writeState(root(), 2, { fields: [...FIELDS, field(5, 'where', 'geography')], files: [A] });
    const fresh = await scene.another();
    expect(await fresh.read('lake', 'SELECT v FROM plain')).toEqual([[7]]);
    const [, broken] = (await fresh.tables.list(scene.team.viewer, 'lake')).tables;
    expect(broken?.last_error).toMatch(/geography/);
  }); // prettier-ignore

  it('does not follow its metadata out of its folder, nor through hostile files', async () => {
    await scene.make(`COPY (SELECT 1 AS id) TO '${join(scene.folder, 'roots', 'beside.parquet')}' (FIELD_IDS {id: 1})`);
    for (const path of [join(scene.folder, 'roots', 'beside.parquet'), root('..', 'beside.parquet')])
      expect(await reasonOf({ fields: FIELDS, files: [{ path }] })).toMatch(/outside its own folder/);
    await writeState(root(), 9, { fields: FIELDS, files: [A] });
    const list = root('metadata', 'snap-9.avro');
    for (const bytes of [Buffer.from('Obj\x01'), Buffer.from('no avro'), endlessArray()]) {
      writeFileSync(list, bytes);
      expect((await refusal(register('bad'))).details['reason']).toMatch(/manifest/i);
    }
    writeFileSync(root('metadata', 'v10.metadata.json'), '{"schemas": '.repeat(10));
    expect((await refusal(register('bad'))).details['reason']).toMatch(/JSON/);
    writeFileSync(root('metadata', 'v11.metadata.json'), '{}'.padEnd(8 * 1024 * 1024 + 1));
    expect((await refusal(register('bad'))).details['reason']).toMatch(/larger than 8 MiB/);
    mkdirSync(root('metadata', 'v12.metadata.json'));
    expect((await refusal(register('bad'))).details['reason']).toMatch(/no plain file/);
    expect((await scene.bench.tables.list(scene.team.viewer, 'lake')).count).toBe(0);
  });
});

/** An Avro file whose one row claims 2^40 nulls. */
function endlessArray(): Buffer {
  const schema = '{"type":"array","items":"null"}';
  const long = (value: bigint): Buffer => {
    const bytes: number[] = [];
    for (let left = value * 2n; ; left >>= 7n) {
      if (left < 128n) return Buffer.from([...bytes, Number(left)]);
      bytes.push(Number(left & 127n) | 128);
    }
  };
  const text = (value: string): Buffer => Buffer.concat([long(BigInt(value.length)), Buffer.from(value)]);
  const sync = Buffer.alloc(16, 1);
  const block = Buffer.concat([long(1n << 40n), long(0n)]);
  return Buffer.concat([
    Buffer.from('Obj\x01', 'latin1'), long(2n), text('avro.schema'), text(schema), text('avro.codec'), text('null'), long(0n),
    sync, long(1n), long(BigInt(block.length)), block, sync,
  ]); // prettier-ignore
}
