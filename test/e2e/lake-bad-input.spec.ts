import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogue } from '#libs/kernel';
import { writeState } from '../../libs/lake/iceberg/iceberg-table.fixture.js';
import type { Answer } from '../fixtures/api-client.js';
import { Deployment } from '../fixtures/deployment.js';
import { ask, codesOf } from '../fixtures/graphql.js';
import { Checksum } from '../fixtures/matrix-scene.js';
import { LAKE_FILE } from '../fixtures/matrix-documents.js';
import { callTool } from '../fixtures/mcp.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { S3_LOGIN, S3Server } from '../fixtures/s3-server.js';

/*
 * What a lake and its facts must take from strangers: each bad input at each of the three doors, the same code, an answer
 * while somebody still waits, and nothing stored. What exactly is wrong with each is the family's own suites' affair.
 */

type Told = [rest: string, graphql: string, mcp: string];

describeWithProgram('redis-server', 'bad input of a lake, at every door', (redis) => {
  let deployment: Deployment;
  let checksum: Checksum;
  let s3: S3Server;
  let root: string;

  beforeAll(async () => {
    s3 = await S3Server.start();
    deployment = await Deployment.start({
      redis,
      env: {
        DATAPIPELINES_LAKE_MAX_FILES_PER_TABLE: '2500',
        DATAPIPELINES_LAKE_TABLE_TIMEOUT_SECONDS: '1',
        DATAPIPELINES_LAKE_MANIFEST_TIMEOUT_SECONDS: '1',
      },
    });
    root = join(deployment.files, 'lake');
    mkdirSync(root);
    const admin = deployment.admin.in('default');
    await admin.data('POST', '/api/v1/datasources', {
      ...{ name: 'lake', display_name: 'Lake', dialect: 'LAKE', jdbc_url: 'jdbc:duckdb:' },
      credential: { kind: 'password', username: S3_LOGIN.key, secret: S3_LOGIN.secret },
      properties: { dialect: { endpoint: s3.endpoint, region: S3_LOGIN.region } },
    });
    checksum = await Checksum.open(deployment.database.superuserUrl);
  }, 90_000);

  afterAll(async () => {
    await checksum?.close();
    const failures = deployment?.server.output.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
    await deployment?.stop();
    await s3?.stop();
    expect(failures).toEqual([]);
  });

  const restCode = ({ status, body }: Answer): string => (status < 400 ? `${status}` : body.error.code);
  async function told(rest: [path: string, body: unknown], graphql: [field: string, input: object], mcp: [tool: string, args: object]): Promise<Told> {
    const { author } = deployment;
    const [field, input] = graphql;
    const query = `mutation ($input: ${field[0]!.toUpperCase()}${field.slice(1)}Input!) { ${field}(input: $input) { __typename } }`;
    // One after the other: a person has two slots for looking at tables.
    const first = restCode(await author.call('POST', rest[0], rest[1]));
    const second = codesOf(await ask(author, query, { input })).join();
    const third = await callTool(author, ...mcp);
    return [first, second, third.code ?? third.rpcError?.code ?? third.text];
  } // prettier-ignore
  const TABLES = '/api/v1/datasources/lake/tables';
  const registered = (format: string, location: unknown): Promise<Told> => {
    const body = { namespace: ['n'], format, location };
    return told(
      [TABLES, { ...body, name: 't' }],
      ['registerLakeTable', { ...body, datasource: 'lake', name: 't', format: format.toUpperCase() }],
      ['lake_tables_register', { ...body, name: 'lake', table: 't' }],
    );
  };
  const imported = (list: Record<string, unknown>): Promise<Told> =>
    told(
      [`${TABLES}/import`, list],
      ['importLakeTables', { datasource: 'lake', importJson: JSON.stringify(list) }],
      ['lake_tables_import', { name: 'lake', ...list }],
    );
  const alike = (code: string): Told => [code, code, code];

  it('Parquet with a wrong footer, cut short or none at all; a place of a million entries; metadata that points outside; a stuck storage', async () => {
    const unreadable = alike('datasource.validation.lake_table_unreadable');
    const file = (name: string, bytes: Buffer): string => {
      writeFileSync(join(root, name), bytes);
      return `file://${join(root, name)}`;
    };
    const footer = Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(60, 0x1c), Buffer.from([60, 0, 0, 0]), Buffer.from('PAR1')]);
    await writeState(join(root, 'ice'), 1, { fields: [{ id: 1, name: 'id', type: 'int', required: false }], files: [{ path: '/etc/passwd' }] });
    s3.endless.add('bucket');
    s3.objects.set('stuck/a.parquet', Buffer.alloc(100));
    s3.stuck.add('stuck/a.parquet');
    const before = await checksum.now();
    for (const [format, location] of [
      ['parquet', file('footer.parquet', footer)],
      ['parquet', file('cut.parquet', Buffer.from('PAR1 and no more'))],
      ['parquet', file('empty.parquet', Buffer.alloc(0))],
      ['parquet', 's3://bucket/t/'],
      ['parquet', 's3://stuck/a.parquet'],
      ['iceberg', 's3://bucket/t'],
      ['iceberg', `file://${root}/ice`],
    ] as const) expect([location, await registered(format, location)]).toEqual([location, unreadable]);
    // Outside the roots of this server, however good it is and whether it is there.
    for (const location of [LAKE_FILE, 'file:///etc/passwd', 'file:///etc/none'])
      expect([location, await registered('parquet', location)]).toEqual([location, alike('datasource.validation.lake_location_invalid')]);
    for (const location of ['file:///a/../b', "s3://bucket/o'brien/", 's3://bucket/a\u0007b', 's3://bucket/a\u0085b', 's3://b/x y', '', `s3://bucket/${'x'.repeat(3000)}`]) {
      const [rest, graphql, mcp] = await registered('parquet', location);
      const refused = 'datasource.validation.lake_location_invalid';
      expect([location, rest, graphql, ['-32602', refused].includes(mcp)]).toEqual([location, refused, refused, true]);
    }
    expect(await checksum.now()).toBe(before);
  }, 60_000);

  it('hostile manifests and lists', async () => {
    const INVALID = 'datasource.validation.properties_invalid';
    const good = { name: 'good', namespace: 'n', format: 'parquet', location: 's3://shop/good.parquet' };
    const manifests: [name: string, text: string, code: string][] = [
      ['cut', '{"tables": [', INVALID],
      ['deep', `{"tables": ${'['.repeat(100_000)}`, INVALID],
      ['none', '{"tables": {}}', INVALID],
      ['proto', '[{"__proto__": {"name": "a"}}]', INVALID],
      ['large', `[${' '.repeat(5 * 1024 * 1024)}]`, 'pipeline.execution.datasource_unreachable'],
      ['many', JSON.stringify(Array.from({ length: 501 }, (_, at) => ({ ...good, name: `t${at}` }))), INVALID],
      ['outside', JSON.stringify([{ ...good, location: 'file:///etc/passwd' }]), 'datasource.validation.lake_location_invalid'],
      ['climbing', JSON.stringify([{ ...good, location: 'file:///data/../etc/passwd' }]), 'datasource.validation.lake_location_invalid'],
      ['control', JSON.stringify([{ ...good, name: 'a\u0007\u202eb' }]), 'datasource.validation.lake_name_invalid'],
      ['late', '[]', 'pipeline.execution.datasource_unreachable'],
    ];
    s3.stuck.add('shop/late.json');
    const before = await checksum.now();
    for (const [name, text, code] of manifests) {
      s3.objects.set(`shop/${name}.json`, Buffer.from(text));
      expect([name, await imported({ manifest_url: `s3://shop/${name}.json` })]).toEqual([name, alike(code)]);
    }
    for (const url of ['http://169.254.169.254/latest', 'file:///etc/passwd', 'https://s3.amazonaws.com.evil.org/m'])
      expect([url, await imported({ manifest_url: url })]).toEqual([url, alike('datasource.validation.lake_manifest_url_forbidden')]);
    const shapes: Record<string, unknown>[] = [{ tables: 'x' }, { tables: [7] }, { tables: [{ ...good, location: 7 }] }, { tables: [{ ...good, namespace: {} }] }, { tables: [good], manifest_url: 7 }, {}];
    for (const list of shapes) {
      const [rest, graphql, mcp] = await imported(list);
      expect([list, Object.hasOwn(catalogue, rest), graphql, mcp === '-32602' || mcp === rest]).toEqual([list, true, rest, true]);
    }
    expect(await checksum.now()).toBe(before);
  }, 60_000);

  it('fact texts of control, direction and lone characters, and arguments of every wrong shape', async () => {
    const fact = { scope: 'WORKSPACE', kind: 'definition', fact: 'A day ends at noon.', refs: [] as unknown };
    const recorded = (more: Record<string, unknown>): Promise<Told> =>
      told(
        ['/api/v1/datasources/lake/facts', { ...fact, ...more }],
        ['recordFact', { datasource: 'lake', ...fact, kind: 'DEFINITION', ...more }],
        ['semantics_record', { datasource: 'lake', ...fact, ...more }],
      );
    const before = await checksum.now();
    for (const text of ['a day \u0007 ends at noon', 'a day \u001b[2J ends', 'a day \u202e noon at sdne', 'a day \u{e0041}\u{e0042} ends', 'a day \u2066 ends at \u2069', 'short', ' '.repeat(50), 'x'.repeat(1001)])
      expect([text.slice(0, 30), await recorded({ fact: text })]).toEqual([text.slice(0, 30), alike('semantics.fact_invalid')]);
    for (const wrong of [{ fact: 7 }, { fact: null }, { refs: 7 }, { refs: 'x' }, { refs: [7] }, { refs: [{}] }, { refs: [{ table: 7 }] }, { evidence_sql: [] }, { scope: 'EVERYWHERE' }]) {
      const [rest, graphql, mcp] = await recorded(wrong);
      expect([wrong, Object.hasOwn(catalogue, rest), graphql === '', mcp === '-32602' || mcp === rest]).toEqual([wrong, true, false, true]);
    }
    expect(await checksum.now()).toBe(before);
  }, 60_000);
}); // prettier-ignore
