import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { oneNodePipeline } from '../fixtures/authoring.js';
import { Deployment } from '../fixtures/deployment.js';
import { eventually } from '../fixtures/eventually.js';
import { describeWithProgram } from '../fixtures/programs.js';

describeWithProgram('redis-server', 'a lake, from outside', (redis) => {
  let deployment: Deployment;
  let root: string;
  const tables = '/api/v1/datasources/lake/tables';

  beforeAll(async () => {
    deployment = await Deployment.start({ redis, servers: 2 });
    root = join(deployment.files, 'lake');
    mkdirSync(root);
    const instance = await DuckDBInstance.create(':memory:');
    const engine = await instance.connect();
    await engine.run(
      `COPY (SELECT i AS id, 9007199254740993 + i AS big, '0' || (i % 2) AS code FROM range(4) t(i))
         TO '${join(root, 'orders')}' (FORMAT parquet, PARTITION_BY (code))`,
    );
    await engine.run(`COPY (SELECT 1 AS a) TO '${join(root, 'broken.parquet')}'`);
    engine.disconnectSync();
    instance.closeSync();
  }, 90_000);

  afterAll(() => deployment?.stop());

  it('is registered by a super admin and filled by an author, over REST and GraphQL', async () => {
    const lake = { name: 'lake', display_name: 'Lake', dialect: 'LAKE', jdbc_url: 'jdbc:duckdb:' };
    await deployment.admin.in('default').data('POST', '/api/v1/datasources', lake);
    const order = { namespace: 'sales', name: 'orders', format: 'parquet', location: `file://${root}/orders/` };
    const registered = await deployment.author.call('POST', tables, order);
    expect([registered.status, registered.body.data.namespace]).toEqual([201, ['sales']]);
    const again = await deployment.author.call('POST', tables, order);
    expect([again.status, again.body.error.code]).toEqual([409, 'datasource.lake_table_duplicate']);
    const query = `mutation ($input: RegisterLakeTableInput!) { registerLakeTable(input: $input) { lakeTable { name lastError } } }`;
    const input = { datasource: 'lake', namespace: ['sales'], name: 'broken', format: 'PARQUET', location: `file://${root}/broken.parquet` }; // prettier-ignore
    const answer = await deployment.author.call('POST', '/graphql', { query, variables: { input } });
    expect(answer.body.data).toEqual({ registerLakeTable: { lakeTable: { name: 'broken', lastError: null } } });
    const { data } = (
      await deployment.author.call('POST', '/graphql', {
        query: '{ datasources(first: 5) { nodes { name lakeTables { name namespace format registeredAt } } } }',
      })
    ).body;
    expect(data.datasources.nodes[0].lakeTables.map(({ name }: { name: string }) => name)).toEqual([
      'broken',
      'orders',
    ]);
    const columns = await deployment.author.data('GET', `${tables}/orders/columns`);
    expect(columns.map(({ name, type }: { name: string; type: string }) => [name, type])).toEqual([
      ['id', 'BIGINTEGER'], ['big', 'BIGINTEGER'], ['code', 'STRING'],
    ]); // prettier-ignore
  });

  it('is read by a pipeline whose template says LAKE, with bound values, on every server', async () => {
    const id = await oneNodePipeline(deployment.author, {
      name: 'lake/orders',
      source: 'lake',
      dialect: 'LAKE',
      sql: 'SELECT id, big, code FROM orders WHERE code = :code ORDER BY id',
      parameters: { code: { type: 'STRING', required: true } },
    });
    for (const { baseUrl } of deployment.servers) {
      const page = await deployment.author.on(baseUrl).call('POST', `/api/v1/pipelines/${id}/execute`, { parameters: { code: '01' } });
      expect(page.text).toContain('9007199254740994');
      const execution = /"execution_id":"([^"]+)"/.exec(page.text)?.[1];
      const result = await deployment.author.on(baseUrl).call('GET', `/api/v1/executions/${execution}/result`);
      expect(result.text).toContain('[["1","9007199254740994","01"],["3","9007199254740996","01"]]');
    }
  }); // prettier-ignore

  it('tells at CONNECT which table is broken, and runs everything else', async () => {
    const broken = await oneNodePipeline(deployment.author, {
      name: 'lake/broken',
      source: 'lake',
      dialect: 'LAKE',
      sql: 'SELECT a FROM sales.broken',
    });
    renameSync(join(root, 'broken.parquet'), join(root, 'away'));
    const extra = { namespace: 'sales', name: 'more', format: 'parquet', location: `file://${root}/orders/` };
    await deployment.author.data('POST', tables, extra);
    const other = deployment.author.on(deployment.servers[1]!.baseUrl);
    const run = await eventually('the change reaches the other server', async () => {
      const answer = await other.call('POST', `/api/v1/pipelines/${broken}/execute`, { parameters: {} });
      return answer.text.includes('table_unavailable') && answer;
    });
    expect(run.text).toContain('"code":"datasource.lake.table_unavailable"');
    expect(run.text).toContain('"table":"sales.broken"');
    const listed = await deployment.author.data('GET', '/api/v1/datasources/lake/lake-tables');
    expect(listed.tables.map(({ name, last_error }: { name: string; last_error: string | null }) => [name, last_error === null])).toEqual([
      ['broken', false], ['more', true], ['orders', true],
    ]);
    const removed = await deployment.author.call('DELETE', `${tables}/sales/broken`);
    expect(removed.status).toBe(204);
  }); // prettier-ignore

  it('takes many tables from a list, all of them or none', async () => {
    const good = { name: 'good', format: 'parquet', path: 'orders/' };
    const list = { namespace: 'bulk', publish_prefix: `file://${root}`, tables: [good, { ...good, name: 'bad', path: 'none/' }] };
    const refused = await deployment.author.call('POST', `${tables}/import`, list);
    expect([refused.status, refused.body.error.details.failures.map(({ path }: { path: string }) => path)]).toEqual([400, ['tables[1]']]);
    const imported = await deployment.author.data('POST', `${tables}/import`, { ...list, tables: [good] });
    expect([imported.registered_count, imported.already_registered_count].map(String)).toEqual(['1', '0']);
    const mutate = async (field: string, payload: string, input: object) => {
      const type = `${field[0]!.toUpperCase()}${field.slice(1)}Input!`;
      const query = `mutation ($input: ${type}) { ${field}(input: $input) { ${payload} } }`;
      return (await deployment.author.call('POST', '/graphql', { query, variables: { input } })).body;
    };
    const importJson = JSON.stringify({ ...list, tables: [good, { ...good, name: 'second' }] });
    const over = await mutate('importLakeTables', 'registered { name } registeredCount alreadyRegistered { name } alreadyRegisteredCount', { datasource: 'lake', importJson });
    const { registeredCount, alreadyRegisteredCount, ...names } = over.data.importLakeTables;
    expect([String(registeredCount), String(alreadyRegisteredCount), names]).toEqual([
      '1', '1', { registered: [{ name: 'second' }], alreadyRegistered: [{ name: 'good' }] },
    ]);
    const gone = await mutate('unregisterLakeTable', '__typename', { datasource: 'lake', namespace: ['bulk'], name: 'second' });
    expect(gone.data).toEqual({ unregisterLakeTable: { __typename: 'DeletedPayload' } });
    const left = await deployment.author.data('GET', '/api/v1/datasources/lake/lake-tables');
    expect(left.tables.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(['good', 'orders']));
    expect(left.tables.map(({ name }: { name: string }) => name)).not.toContain('second');
    const forbidden = await deployment.author.call('POST', `${tables}/import`, { manifest_url: 'http://127.0.0.1:1/m.json' });
    expect(forbidden.body.error.code).toBe('datasource.validation.lake_manifest_url_forbidden');
  }); // prettier-ignore

  it('is no place to write: no document saves a node that changes it, or sends rows there', async () => {
    const { author } = deployment;
    const sql = { id: 'w/dml.sql', display_name: 'x', description: '', dialect: 'LAKE', body: 'DELETE FROM sales.orders' };
    for (const [id, type, body] of [['w/dml.sql', 'dml', sql.body], ['w/ddl.sql', 'ddl', 'DROP TABLE sales.orders'], ['w/dql.sql', 'dql', 'SELECT 1 AS a']] as const)
      expect([type, (await author.call('POST', '/api/v1/templates', { ...sql, id, body })).status]).toEqual([type, 201]);
    const node = (id: string, type: string, more = {}) => ({ id: 'n', type, source: 'lake', template: { id, version: 1 }, ...more });
    const output = { target: 'datasource', datasource: 'lake', table: 't', mode: 'append' };
    for (const [nodes, path, shape] of [
      [[node('w/dml.sql', 'DML')], 'nodes[0].source', 'dml_source'],
      [[node('w/ddl.sql', 'DDL')], 'nodes[0].source', 'ddl_source'],
      [[node('w/dql.sql', 'DQL', { output })], 'nodes[0].output.datasource', 'output_target'],
    ] as const) {
      const saved = await author.call('POST', '/api/v1/pipelines', { name: 'w/write', display_name: 'x', description: '', parameters: {}, nodes });
      expect(saved.status).toBe(400);
      expect(saved.body.error.details.failures).toContainEqual(
        expect.objectContaining({ code: 'pipeline.validation.datasource_readonly', path, details: expect.objectContaining({ shape }) }),
      );
    }
  }); // prettier-ignore
});
