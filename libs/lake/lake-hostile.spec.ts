import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { S3_LOGIN, S3Server } from '../../test/fixtures/s3-server.js';
import { writeState } from './iceberg/iceberg-table.fixture.js';
import { lakeScene, refusal } from './lake.fixture.js';

const scene = lakeScene();
const root = (...parts: string[]): string => join(scene.folder, 'roots', ...parts);
const register = (format: string, location: string, datasource = 'lake') =>
  scene.bench.tables.register(scene.team.author, datasource, { namespace: 'n', name: 't', format, location });
const stored = async () =>
  Number((await scene.db.database.query<{ n: string }>('SELECT count(*) AS n FROM lake_tables'))[0]?.n);

/** What every hostile thing must come to: a catalogued code, a reason, and nothing stored. */
async function unreadable(work: Promise<unknown>): Promise<string> {
  const { code, details } = await refusal(work);
  expect([code, await stored()]).toEqual(['datasource.validation.lake_table_unreadable', 0]);
  return String(details['reason']);
}

beforeEach(() => scene.registered('lake'));

describe('a Parquet file that lies about itself', () => {
  const file = (name: string, ...parts: (Buffer | string)[]): string => {
    writeFileSync(root(name), Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part))));
    return `file://${root(name)}`;
  }; // prettier-ignore
  const length = (bytes: number): Buffer => {
    const word = Buffer.alloc(4);
    word.writeUInt32LE(bytes);
    return word;
  };
  const varint = (value: bigint): Buffer => {
    const bytes: number[] = [];
    for (let left = value; ; left >>= 7n) {
      if (left < 128n) return Buffer.from([...bytes, Number(left)]);
      bytes.push(Number(left & 127n) | 128);
    }
  };
  const footer = (...parts: Buffer[]): Buffer[] => {
    const bytes = Buffer.concat(parts);
    return [Buffer.from('PAR1'), bytes, length(bytes.length), Buffer.from('PAR1')];
  };
  /** The head of FileMetaData: version 1, and then a list of structs that says it has so many. */
  const listOf = (many: bigint): Buffer => Buffer.concat([Buffer.from([0x15, 0x02, 0x19, 0xfc]), varint(many)]);

  it('in its footer: its length, its lists, its texts, its kind', async () => {
    const before = process.memoryUsage().rss;
    const cases: [string, (Buffer | string)[]][] = [
      ['a footer longer than the file', ['PAR1', 'x'.repeat(50), length(1000), 'PAR1']],
      ['a footer of four gigabytes', ['PAR1', 'x'.repeat(50), length(0xffffffff), 'PAR1']],
      ['a footer of nothing', ['PAR1', 'x'.repeat(50), length(0), 'PAR1']],
      ['a footer of noise', footer(Buffer.from(Array.from({ length: 400 }, (_, at) => (at * 73 + 11) % 256)))],
      ['a footer of zeros', footer(Buffer.alloc(400))],
      ['two thousand million columns', footer(listOf(0x7fffffffn))],
      ['more columns than numbers have', footer(listOf(0xffffffffffffffffn))],
      ['a name of two gigabytes', footer(Buffer.from([0x15, 0x02, 0x19, 0x1c, 0x48]), varint(0x7ffffff0n), Buffer.from('name'))],
      ['structs in structs without end', footer(Buffer.from([0x15, 0x02, 0x19, 0x1c]), Buffer.alloc(100_000, 0x1c))],
      ['an encrypted one', ['PARE', 'x'.repeat(50), length(40), 'PARE']],
      ['another format', ['ORC', 'x'.repeat(50), 'ORC']],
    ];
    for (const [what, parts] of cases) {
      const location = file('lie.parquet', ...parts);
      for (const format of [location, `file://${root('*.parquet')}`, `file://${root()}/`])
        expect([what, await unreadable(register('parquet', format))]).toEqual([what, expect.stringMatching(/\S/)]);
    }
    // None of the sizes it claims was believed.
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024);
    expect(await scene.bench.read('lake', 'SELECT 1')).toEqual([[1]]);
  }, 20_000); // prettier-ignore

  it('is refused among good ones too, and one that turns so later is an error and never half a table', async () => {
    for (const name of ['a', 'b', 'c'])
      await scene.make(`COPY (SELECT i AS v FROM range(3) t(i)) TO '${root(name)}.parquet'`);
    const whole = readFileSync(root('c.parquet'));
    const truncated = whole.subarray(0, whole.length - 4);
    writeFileSync(root('c.parquet'), truncated);
    // A row comes out of the first file: that alone would tell nothing.
    for (const location of [`file://${root('*.parquet')}`, `file://${root()}/`])
      expect(await unreadable(register('parquet', location))).toMatch(/c\.parquet/);
    writeFileSync(root('c.parquet'), whole);
    await register('parquet', `file://${root('*.parquet')}`);
    expect(await scene.bench.read('lake', 'SELECT count(*) FROM t')).toEqual([[9n]]);
    writeFileSync(root('c.parquet'), truncated);
    for (const sql of ['SELECT count(*) FROM t', 'SELECT sum(v)::BIGINT FROM t', 'SELECT v FROM t'])
      await expect(scene.bench.read('lake', sql)).rejects.toMatchObject({ name: 'DriverFailure' });
  });
});

describe('a place with more in it than anybody can list', () => {
  let s3: S3Server;
  beforeEach(async () => {
    s3 = await S3Server.start();
    s3.endless.add('bucket');
    await scene.registered('s3', {
      credential: { kind: 'password', username: S3_LOGIN.key, secret: S3_LOGIN.secret },
      properties: { dialect: { endpoint: s3.endpoint, region: S3_LOGIN.region } },
    });
  });
  afterEach(() => s3.stop());

  it.each([
    ['parquet', 's3://bucket/t/'],
    ['parquet', 's3://bucket/**/*.parquet'],
    ['parquet', 's3://bucket/t/nothing-like-it-*.csv'],
    ['iceberg', 's3://bucket/t'],
  ])('is left at the limit of files: %s %s', async (format, location) => {
    expect(await unreadable(register(format, location, 's3'))).toMatch(/more than 20000 objects/);
    // Twenty pages of a thousand hold what is allowed, the next says that there is more.
    expect(s3.requests).toHaveLength(21);
  });

  it('is refused within an import too, which stores none of its tables then', async () => {
    const table = (name: string, location: string) => ({ name, namespace: 'n', format: 'parquet', location });
    await scene.make(`COPY (SELECT 1 AS v) TO '${root('a.parquet')}'`);
    const tables = [table('good', `file://${root('a.parquet')}`), table('endless', 's3://bucket/t/')];
    const refused = await refusal(scene.bench.imports.import(scene.team.author, 's3', { tables }));
    expect([refused.failures, await stored()]).toEqual([['lake_table_unreadable tables[1]'], 0]);
  });
});

describe('Iceberg metadata that points outside', () => {
  const ID = [{ id: 1, name: 'id', type: 'int', required: false }];
  const outside = (): string => join(scene.folder, 'outside.parquet');
  beforeEach(async () => {
    mkdirSync(root('ice', 'data'), { recursive: true });
    await scene.make(
      `COPY (SELECT 42 AS id) TO '${outside()}' (FIELD_IDS {id: 1})`,
      `COPY (SELECT 1 AS id) TO '${root('ice', 'data', 'a.parquet')}' (FIELD_IDS {id: 1})`,
      `COPY (SELECT 13 AS id) TO '${root('beside.parquet')}' (FIELD_IDS {id: 1})`,
    );
  });
  const inside = () => ({ path: root('ice', 'data', 'a.parquet') });
  const points = (path: string) => writeState(root('ice'), 1, { fields: ID, files: [inside(), { path }] });

  it('of its folder, its roots or the machine is refused, whatever the way, and reads nothing there', async () => {
    symlinkSync(outside(), root('ice', 'data', 'link.parquet'));
    symlinkSync(scene.folder, root('ice', 'away'));
    for (const path of [outside(), root('beside.parquet'), root('ice', '..', 'beside.parquet'), root('ice', 'data', 'link.parquet'), root('ice', 'away', 'outside.parquet'), '/etc/passwd', '/proc/self/environ', '/dev/zero']) {
      await points(path);
      expect([path, await unreadable(register('iceberg', `file://${root('ice')}`))]).toEqual([path, expect.stringMatching(/outside its own folder|not on this machine|not there/)]);
    }
    for (const list of ['/etc/passwd', 'file:///etc/passwd', 's3://bucket/x.avro', 'http://169.254.169.254/latest', '/dev/zero', root('beside.parquet')]) {
      await writeState(root('ice'), 1, { fields: ID, more: { snapshots: [{ 'snapshot-id': 'ID', 'manifest-list': list }] } });
      expect([list, await unreadable(register('iceberg', `file://${root('ice')}`))]).toEqual([list, expect.stringMatching(/outside its own folder|not on this machine|not there/)]);
    }
    execFileSync('mkfifo', [root('ice', 'data', 'pipe.parquet')]);
    await points(root('ice', 'data', 'pipe.parquet'));
    expect(await unreadable(register('iceberg', `file://${root('ice')}`))).toBe('A data file is no plain file.');
    symlinkSync(join(scene.folder, 'elsewhere.metadata.json'), root('ice', 'metadata', 'v9.metadata.json'));
    writeFileSync(join(scene.folder, 'elsewhere.metadata.json'), '{}');
    expect(await unreadable(register('iceberg', `file://${root('ice')}`))).toMatch(/outside its own folder/);
    expect(await unreadable(register('iceberg', `file://${root('ice', 'metadata', 'v9.metadata.json')}`))).toMatch(/outside its own folder/);
  }); // prettier-ignore

  it('after it was registered breaks the table, and the walls keep the outside shut', async () => {
    await points(inside().path);
    await register('iceberg', `file://${root('ice')}`);
    await points(outside());
    const fresh = await scene.another();
    const broken = await refusal(fresh.read('lake', 'SELECT * FROM n.t'));
    expect([broken.code, broken.details['last_error']]).toEqual(['datasource.lake.table_unavailable', expect.stringMatching(/outside its own folder/)]);
    await expect(fresh.read('lake', `SELECT * FROM read_parquet('${outside()}')`)).rejects.toMatchObject({ kind: 'permission' });
  }); // prettier-ignore
});

describe('a manifest of tables that points outside', () => {
  it('is refused whole, every entry with its own reason, and stores nothing', async () => {
    await scene.make(`COPY (SELECT 1 AS v) TO '${root('a.parquet')}'`);
    const entry = (name: unknown, location: unknown, more = {}) => ({ name, namespace: 'n', format: 'parquet', location, ...more });
    const unfit = [
      entry('a\u0000b', 'file:///x'), entry('ａ', 'file:///x'), entry('a\u202eb', 'file:///x'), entry('', 'file:///x'), entry('x'.repeat(65), 'file:///x'), entry({}, 'file:///x'),
      entry('a', 'file:///x\u0000y'), entry('a', 'file:///x\ud800'), entry('a', "file:///x'y"), entry('a', 'file:///a/../b'), entry('a', 'file:////x'), entry('a', 's3://b/x\u00a0y'), entry('a', `s3://bucket/${'x'.repeat(3000)}`), entry('a', ['file:///x']), entry('a', null),
      entry('a', 'file:///x', { format: 'PARQUET' }), entry('a', 'file:///x', { namespace: ['n', 1] }), entry('a', 'file:///x', { namespace: 'memory' }), entry('a', 'file:///x', { namespace: 'a.b.c.d.e.f.g.h.i.j' }), entry('a', 'file:///x', { partition_column: 'a-b' }),
    ];
    const refused = await refusal(scene.bench.imports.import(scene.team.author, 'lake', { tables: unfit as never }));
    expect([...new Set(refused.failures.map((failure) => /tables\[(\d+)\]/.exec(failure)?.[1]))]).toEqual(unfit.map((_, index) => String(index)));
    const places = ['/etc/passwd', '/proc/self/environ', '/', scene.folder, root('..', 'outside.parquet').replace('/roots/..', '')];
    const tables = [entry('good', `file://${root('a.parquet')}`), ...places.map((path, index) => entry(`t${index}`, `file://${path}`))];
    const outside = await refusal(scene.bench.imports.import(scene.team.author, 'lake', { tables: tables as never }));
    expect(outside.failures).toEqual(places.map((_, index) => `lake_location_invalid tables[${index + 1}].location`));
    expect(await stored()).toBe(0);
  }); // prettier-ignore
});
