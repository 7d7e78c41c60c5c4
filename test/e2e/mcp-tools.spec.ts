import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ApiClient } from '../fixtures/api-client.js';
import { ACCEPT, callTool } from '../fixtures/mcp.js';
import { McpScene } from '../fixtures/mcp-scene.js';
import { auditTrailOfTools } from '../fixtures/mcp-tools-audit.js';
import { factsAsTools } from '../fixtures/mcp-tools-facts.js';
import { documentsAndResources } from '../fixtures/mcp-tools-resources.js';
import { eventually } from '../fixtures/eventually.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { undeclaredIn, type ResultSchema } from '../fixtures/undeclared-members.js';

const ORDERS = 'SELECT id, amount, placed_at, day FROM orders WHERE region = :region ORDER BY id DESC';

describeWithProgram('redis-server', 'the tools', (redis) => {
  let scene: McpScene;
  let pipelineId: string;

  beforeAll(async () => {
    scene = await McpScene.start({ redis });
  }, 90_000);

  afterAll(async () => {
    const failures = scene?.deployment.server.output.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
    await scene?.stop();
    expect(failures).toEqual([]);
  });

  describe('an author at work', () => {
    it('reads what is there', async () => {
      const [shop] = await scene.tool('datasources_list');
      expect([shop.name, shop.dialect, shop.password_set]).toEqual(['shop', 'POSTGRES', true]);
      expect(JSON.stringify(shop)).not.toContain(new URL(scene.source.url).password);
      expect((await scene.tool('datasources_get', { name: 'shop' })).name).toBe('shop');
      expect((await scene.tool('datasources_test', { name: 'shop' })).connected).toBe(true);
      expect((await scene.tool('datasources_get_schemas', { name: 'shop' })).schemas).toContain('public');
      const { tables } = await scene.tool('datasources_get_tables', { name: 'shop', namespace: ['public'] });
      expect(tables.map((table: { name: string }) => table.name)).toEqual(['journal', 'orders']);
      const columns = await scene.tool('datasources_get_columns', { name: 'shop', table: 'orders', schema: 'public' });
      expect(columns.map((column: { name: string; type: string }) => [column.name, column.type])).toEqual([
      ['id', 'BIGINTEGER'], ['amount', 'BIGDECIMAL'], ['region', 'STRING'], ['placed_at', 'TIMESTAMP'], ['day', 'DATE'],
    ]); // prettier-ignore
      expect(await scene.refusal('datasources_get_columns', { name: 'shop', table: 'ordres' })).toMatchObject({
        code: 'datasource.table_not_found',
        details: { suggestion: 'orders' },
      });
      const stats = await scene.tool('datasources_get_table_stats', { name: 'shop', table: 'orders' });
      expect(stats.indexes.map(({ name }: { name: string }) => name)).toEqual(['orders_pkey']);
    });

    it('looks into tables, exactly and within bounds', async () => {
      const preview = await scene.tool('datasources_preview_rows', {
      name: 'shop', table: 'orders', order_by: [{ column: 'id', direction: 'DESC' }], limit: 1,
    }); // prettier-ignore
      expect([preview.rows[0][0], preview.rows[0][1], preview.truncated]).toEqual([
      '9223372036854775807', '1234567890123456789012345678.0123456789', true,
    ]); // prettier-ignore
      const probe = await scene.tool('sql_probe', {
      name: 'shop', sql: 'SELECT count(*) AS n FROM orders WHERE region = :r', parameters: { r: { type: 'STRING', value: 'north' } },
    }); // prettier-ignore
      expect(probe.rows).toEqual([['2']]);
      const refused = await callTool(scene.agent, 'sql_probe', { name: 'shop', sql: 'DELETE FROM orders' });
      expect([refused.rpcError?.code, refused.rpcError?.data?.['reason']]).toEqual(['-32602', 'not_a_query']);
      expect((await scene.refusal('sql_probe', { name: 'tempdb', sql: 'SELECT 1' })).code).toBe(
        'pipeline.node.standalone_execution_refused',
      );
    });

    it('writes templates, is asked before a new top-level folder, and sees what they become', async () => {
    const template = { id: 'shop/orders.sql', display_name: 'Orders', description: 'By region.', dialect: 'POSTGRES', body: ORDERS };
    expect(await scene.refusal('templates_create', template)).toMatchObject({
      code: 'template.validation.new_root_requires_confirmation',
      details: { root: 'shop', existing_roots: [] },
    });
    const created = await scene.tool('templates_create', { ...template, confirm_new_root: true });
    expect(created).toMatchObject({ id: 'shop/orders.sql', status: 'DRAFT' });
    expect(await scene.tool('templates_render', { id: 'shop/orders.sql', context: { region: 'x' } })).toBe(ORDERS);
    const syntax = await scene.refusal('templates_create', { ...template, id: 'shop/broken.sql', body: 'SELECT <#if a>' });
    expect(syntax.code).toBe('template.validation.syntax_error');
    expect(Number(syntax.details.line)).toBe(1);
    const stale = { ...template, expected_hash: '0'.repeat(64) };
    expect((await scene.refusal('templates_update', stale)).code).toBe('template.version.conflict');
    const same = await scene.tool('templates_update', { ...template, expected_hash: created.body_hash });
    expect(same.body_hash).toBe(created.body_hash);
    const [listed] = await scene.tool('templates_list', { dialect: 'POSTGRES', is_library: false });
    expect([listed.id, listed.type]).toEqual(['shop/orders.sql', 'sql']);
    expect(await scene.tool('templates_list', { is_library: true })).toEqual([]);
    expect((await scene.tool('templates_list', { prefix: '' })).folders).toEqual([expect.objectContaining({ name: 'shop' })]);
    expect((await scene.tool('templates_get', { id: 'shop/orders.sql' })).body).toBe(ORDERS);
  }); // prettier-ignore

    it('writes a pipeline and mends it by what the refusal says', async () => {
    const document = {
      name: 'shop/orders', display_name: 'Orders', description: 'Orders of one region.',
      parameters: { region: { type: 'STRING', required: true } },
      nodes: [{ id: 'read', type: 'DQL', source: 'shopp', template: { id: 'shop/orders.sql', version: 1 }, output: { target: 'caller' } }],
      checks: [{ id: 'count', name: 'Three orders', datasource: 'shop', sql: 'SELECT count(*) FROM orders', expected: { kind: 'value', value: 3 } }],
    };
    const refused = await scene.refusal('pipelines_create', document);
    expect(refused.details.failures.map(({ code, path }: { code: string; path: string }) => [code, path])).toContainEqual(
      ['pipeline.validation.unknown_datasource', 'nodes[0].source'],
    );
    document.nodes[0]!.source = 'shop';
    expect(await scene.refusal('pipelines_create', document)).toMatchObject({
      code: 'pipeline.validation.new_root_requires_confirmation', details: { root: 'shop', existing_roots: [] },
    });
    const created = await scene.tool('pipelines_create', { ...document, confirm_new_root: true });
    expect(created).toMatchObject({ status: 'DRAFT' });
    pipelineId = created.id;
    const read = await scene.tool('pipelines_get', { id: pipelineId });
    expect([read.name, read.body_hash, read.version_stamps.created_via]).toEqual(['shop/orders', created.body_hash, 'mcp']);
    const { name, ...nameless } = document;
    const updated = await scene.tool('pipelines_update', { id: pipelineId, expected_hash: created.body_hash, name, ...nameless, description: 'Changed.' });
    expect(updated.body_hash).not.toBe(created.body_hash);
    const lost = await scene.refusal('pipelines_update', { id: pipelineId, expected_hash: created.body_hash, ...document });
    expect([lost.code, lost.details.current_body_hash]).toEqual(['pipeline.version.conflict', updated.body_hash]);
    expect((await scene.tool('pipelines_list', { q: 'ORDERS' })).map((each: { id: string }) => each.id)).toEqual([pipelineId]);
    expect((await scene.tool('pipelines_list', { prefix: 'shop' })).items).toHaveLength(1);
    // Empty is the top level, not "no prefix": folders with what they hold, and no list of all.
    const top = await scene.tool('pipelines_list', { prefix: '' });
    expect([top.prefix, top.folders.map((each: { name: string; count: unknown }) => [each.name, Number(each.count)]), top.items]).toEqual(['', [['shop', 1]], []]);
    await scene.tool('pipelines_create', { ...document, name: 'shop/more' });
    const { content, structuredContent } = await scene.client.callTool({ name: 'pipelines_list', arguments: { limit: 1 } });
    expect([(structuredContent as { total: number }).total, (content as unknown[])[1]]).toEqual([2, { type: 'text', text: expect.stringContaining('1 of 2 entries, not all') }]);
    expect(await scene.tool('pipelines_list', { prefix: 'shop', limit: 1 })).toMatchObject({ truncated: true });
    expect((await scene.tool('templates_used_by', { id: 'shop/orders.sql', version: 1 })).pipeline_count.valueOf()).toBe(2);
  }); // prettier-ignore

    it('tries one node with stand-ins, and writes nothing by doing so', async () => {
    const trial = await scene.tool('pipelines_execute_node', { pipeline_id: pipelineId, node_id: 'read' });
    expect([trial.sampled_parameters, trial.rows, trial.schema[0].name]).toEqual([['region'], [], 'id']);
    const given = await scene.tool('pipelines_execute_node', { pipeline_id: pipelineId, node_id: 'read', parameters: { region: 'south' } });
    expect([given.sampled_parameters, given.rows[0][0], given.truncated]).toEqual([[], '9223372036854775807', false]);
    expect((await scene.refusal('pipelines_execute_node', { pipeline_id: pipelineId, node_id: 'raed' })).code).toBe('pipeline.node.not_found');
    expect(await scene.tool('executions_list')).toEqual([]);
  }); // prettier-ignore

    it('tries a writing node for real, but never with made-up values, and never on tempdb', async () => {
    const body = 'INSERT INTO journal (entry) VALUES (:entry)';
    await scene.tool('templates_create', { id: 'shop/note.sql', display_name: 'Note', description: '', dialect: 'POSTGRES', body });
    await scene.tool('templates_create', { id: 'shop/one.sql', display_name: 'One', description: '', dialect: 'DUCKDB', body: 'SELECT 1 AS one' });
    const { id } = await scene.tool('pipelines_create', {
      name: 'shop/note', display_name: 'Note', parameters: { entry: { type: 'STRING', required: true } },
      nodes: [
        { id: 'write', type: 'DML', source: 'shop', template: { id: 'shop/note.sql', version: 1 } },
        { id: 'staged', type: 'DQL', source: 'tempdb', template: { id: 'shop/one.sql', version: 1 }, output: { target: 'caller' } },
      ],
    });
    const made = { pipeline_id: id, node_id: 'write' };
    expect((await scene.refusal('pipelines_execute_node', made)).code).toBe('pipeline.execution.parameter_required');
    const done = await scene.tool('pipelines_execute_node', { ...made, parameters: { entry: 'noted' } });
    expect([Number(done.rows_affected), done.rows]).toEqual([1, []]);
    const { rows } = await scene.tool('sql_probe', { name: 'shop', sql: 'SELECT entry FROM journal' });
    expect(rows).toEqual([['noted']]);
    expect((await scene.refusal('pipelines_execute_node', { pipeline_id: id, node_id: 'staged' })).details.reason).toBe('tempdb_source');
  }); // prettier-ignore

    it('runs the checks and takes back what is its own', async () => {
    const { runs } = await scene.tool('pipelines_run_checks', { id: pipelineId });
    expect(runs).toEqual([expect.objectContaining({ check_id: 'count', verdict: 'pass', observed: '3' })]);
    await scene.tool('templates_create', { id: 'shop/gone.sql', display_name: 'x', description: '', dialect: 'POSTGRES', body: 'SELECT 1' });
    expect(await scene.tool('templates_purge_draft', { id: 'shop/gone.sql' })).toEqual({ id: 'shop/gone.sql', purged: true });
    expect((await scene.refusal('templates_get', { id: 'shop/gone.sql' })).code).toBe('template.not_found');
    expect((await scene.refusal('templates_purge_draft', { id: 'shop/orders.sql' })).code).toBe('template.in_use');
  }); // prettier-ignore

    it('reads what can be calculated', async () => {
      const kinds = (await scene.tool('calculators_list')).map(({ kind }: { kind: string }) => kind);
      expect(kinds.length).toBeGreaterThan(3);
      expect((await scene.tool('calculators_get', { kind: kinds[0] })).kind).toBe(kinds[0]);
      expect((await scene.refusal('calculators_get', { kind: 'nope' })).details.allowed).toEqual(kinds);
    });
  });

  describe('a run', () => {
    it('gives its rows with every digit, in the text and in the structured result alike', async () => {
    const answer = await callTool(scene.agent, 'pipelines_execute', { id: pipelineId, parameters: { region: 'north' } });
    const { value, structured } = answer;
    expect([value.status, String(value.total_rows), value.has_more]).toEqual(['SUCCESS', '2', false]);
    expect(value.rows).toEqual([
      ['9007199254740993', '0.1000000001', '2026-03-01T07:05:09.123456Z', '2026-02-28'],
      ['1', null, null, null],
    ]);
    expect(structured).toEqual(value);
    expect(value.node_stats[0]).toMatchObject({ node_id: 'read', status: 'SUCCESS' });
    const row = await scene.tool('executions_get', { execution_id: value.execution_id });
    expect([row.triggered_via, row.result_url]).toEqual(['MCP', value.result_url]);
    const page = await scene.tool('executions_get_result', { execution_id: value.execution_id, offset: 1, limit: 1 });
    expect([page.rows, Number(page.offset)]).toEqual([[['1', null, null, null]], 1]);
    const csv = await scene.tool('executions_get_result', { execution_id: value.execution_id, format: 'csv' });
    expect(csv).toMatchObject({ reason: 'payload_exceeds_inline_cap', format: 'csv' });
    const download = await scene.agent.call('GET', new URL(csv.result_url, scene.deployment.server.baseUrl).pathname + '?format=csv');
    expect(download.text).toContain('9007199254740993');
    expect((await scene.refusal('executions_get_result', { execution_id: value.execution_id, format: 'arrow' })).code).toBe('result.format_unsupported');
  }); // prettier-ignore

    it('whose page is over 1 MiB comes as a link, for the keys of its workspace alone', async () => {
    const body = "SELECT i AS id, repeat('x', CASE WHEN i <= 1500 THEN 1500 ELSE 1 END) AS pad FROM generate_series(1, 3000) i ORDER BY i";
    await scene.tool('templates_create', { id: 'shop/wide.sql', display_name: 'x', description: '', dialect: 'POSTGRES', body });
    const { id } = await scene.tool('pipelines_create', {
      name: 'shop/wide', display_name: 'Wide', nodes: [{ id: 'read', type: 'DQL', source: 'shop', template: { id: 'shop/wide.sql', version: 1 } }],
    });
    const run = await scene.tool('pipelines_execute', { id });
    expect([run.rows_omitted, run.rows, run.has_more, String(run.total_rows)]).toEqual([true, [], true, '3000']);
    const link = await scene.tool('executions_get_result', { execution_id: run.execution_id, limit: 100_000 });
    expect(link).toEqual({ result_url: expect.stringContaining(run.execution_id), expires_at: expect.any(String), format: 'json', total_rows: expect.anything(), reason: 'payload_exceeds_inline_cap' });
    const path = (url: string) => url.slice(url.indexOf('/api/v1/'));
    await scene.deployment.admin.data('POST', '/api/v1/workspaces', { name: 'away', display_name: 'Away' });
    const away = scene.deployment.admin.in('away');
    const { key: foreign } = await away.data('POST', '/api/v1/auth/api-keys', { name: 'foreign', scopes: ['author'] });
    const { baseUrl } = scene.deployment.server;
    for (const url of [link.result_url, run.result_url]) {
      const { rows } = await scene.agent.data('GET', path(url));
      expect([rows.length >= 1000, rows[0][1]]).toEqual([true, 'x'.repeat(1500)]);
      const refused = await ApiClient.withKey(baseUrl, foreign).call('GET', path(url));
      expect([refused.status, refused.body.error.code, refused.text.includes('xxx')]).toEqual([404, 'result.execution_not_found', false]);
      expect((await new ApiClient(baseUrl).call('GET', path(url))).status).toBe(401);
    }
    expect((await scene.agent.data('GET', path(link.result_url))).rows).toHaveLength(3000);
    // What fits is given here, up to the same mark.
    expect((await scene.tool('executions_get_result', { execution_id: run.execution_id, limit: 600 })).rows).toHaveLength(600);
    // A page nobody measured is a thousand rows, however many are left.
    const page = await scene.tool('executions_get_result', { execution_id: run.execution_id, offset: 1500 });
    expect([page.rows.length, String(page.rows[0][0]), Number(page.limit), page.has_more]).toEqual([1000, '1501', 1000, true]);
  }); // prettier-ignore

    it('that fails tells the node, the SQL and the run', async () => {
    const body = 'SELECT 1 / (length(:region) - 5) AS x';
    await scene.tool('templates_create', { id: 'shop/fails.sql', display_name: 'x', description: '', dialect: 'POSTGRES', body });
    const { id } = await scene.tool('pipelines_create', {
      name: 'shop/fails', display_name: 'Fails', parameters: { region: { type: 'STRING', required: true } },
      nodes: [{ id: 'divide', type: 'DQL', source: 'shop', template: { id: 'shop/fails.sql', version: 1 } }],
    });
    const answer = await callTool(scene.agent, 'pipelines_execute', { id, parameters: { region: 'north' } });
    expect([answer.isError, answer.code, answer.value.status]).toEqual([true, 'pipeline.node.query_execution_failed', 'FAILED']);
    expect(answer.value.error.node.id).toBe('divide');
    expect(answer.value.error.sql).toContain(':region');
    expect((await scene.tool('executions_list', { status: 'FAILED' }))[0].execution_id).toBe(answer.value.execution_id);
    expect((await scene.refusal('pipelines_execute', { id })).code).toBe('pipeline.execution.parameter_required');
  }); // prettier-ignore

    it('with an idempotency key happens once, and its second caller gets the same', async () => {
    const asked = { id: pipelineId, parameters: { region: 'north' }, idempotency_key: 'once' };
    const [first, second] = await Promise.all([scene.tool('pipelines_execute', asked), scene.tool('pipelines_execute', asked)]);
    expect(second.execution_id).toBe(first.execution_id);
    expect(second.rows).toEqual(first.rows);
    expect([first.replayed, second.replayed].filter(Boolean)).toEqual([true]);
    expect((await scene.refusal('pipelines_execute', { ...asked, parameters: { region: 'south' } })).code).toBe('idempotency.key_reused_for_different_request');
  }); // prettier-ignore

    it('tells a client that asks how it gets on, by a stream that ends with the result', async () => {
    const told: { progress: number; message?: string }[] = [];
    const result = await scene.client.callTool({ name: 'pipelines_execute', arguments: { id: pipelineId, parameters: { region: 'north' } } }, undefined, { onprogress: (step) => told.push(step) });
    expect(result.isError).toBe(false);
    expect(told.map(({ message }) => message)).toEqual(expect.arrayContaining(['Node read started.', expect.stringMatching(/^Node read completed: 2 rows in \d+ ms\.$/)]));
    expect(told.map(({ progress }) => progress)).toEqual(told.map((_, index) => index + 1));
  }); // prettier-ignore

    it('goes on when its client leaves, can be found, and be cancelled by the key that launched it alone', async () => {
    const body = 'SELECT pg_sleep(60)::text AS slept';
    await scene.tool('templates_create', { id: 'shop/slow.sql', display_name: 'x', description: '', dialect: 'POSTGRES', body });
    const { id } = await scene.tool('pipelines_create', {
      name: 'shop/slow', display_name: 'Slow', nodes: [{ id: 'sleep', type: 'DQL', source: 'shop', template: { id: 'shop/slow.sql', version: 1 } }],
    });
    for (const progressToken of [undefined, 'p']) {
      const leave = new AbortController();
      const params = { name: 'pipelines_execute', arguments: { id }, ...(progressToken ? { _meta: { progressToken } } : {}) };
      const left = scene.agent.fetch('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, { headers: ACCEPT, signal: leave.signal });
      const running = await eventually('the run shows', async () => (await scene.tool('executions_list', { pipeline_id: id, status: 'RUNNING' }))[0]);
      leave.abort();
      await expect(left.then((response) => response.text())).rejects.toThrow();
      const { client: other } = await scene.keyWith(['author']);
      const refused = await callTool(other, 'executions_cancel', { execution_id: running.execution_id });
      expect([refused.code, refused.value.error.details.required]).toEqual(['auth.role_required', 'launching_key']);
      expect((await scene.tool('executions_get', { execution_id: running.execution_id })).status).toBe('RUNNING');
      expect(await scene.tool('executions_cancel', { execution_id: running.execution_id })).toMatchObject({ cancel_requested: true });
      await eventually('the run ends', async () => (await scene.tool('executions_get', { execution_id: running.execution_id })).status === 'ABORTED');
    }
  }); // prettier-ignore
  });

  describe('an endpoint', () => {
    it('is published, listed, read and taken down', async () => {
    const made = await scene.tool('endpoints_create', { path: '/shop/{region}', pipeline: 'shop/orders', timeout_seconds: 5 });
    expect([made.path, made.path_variables]).toEqual(['/shop/{region}', ['region']]);
    expect((await scene.refusal('endpoints_create', { path: '/shop/north', pipeline: 'shop/orders' })).code).toBe('endpoint.path_conflict');
    expect(await scene.tool('endpoints_list')).toHaveLength(1);
    expect((await scene.tool('endpoints_get', { path: '/shop/{region}' })).pipeline_name).toBe('shop/orders');
    expect(await scene.tool('endpoints_delete', { path: '/shop/{region}' })).toEqual({ path: '/shop/{region}', deleted: true });
    expect((await scene.refusal('endpoints_get', { path: '/shop/{region}' })).code).toBe('endpoint.not_found');
  }); // prettier-ignore
  });

  describe('a lake', () => {
    it('gets its tables one by one or many at once, and loses them', async () => {
      const root = join(scene.deployment.files, 'lake');
      mkdirSync(root);
      const instance = await DuckDBInstance.create(':memory:');
      const engine = await instance.connect();
      for (const name of ['a', 'b']) await engine.run(`COPY (SELECT 9007199254740993 AS big) TO '${join(root, `${name}.parquet`)}'`);
      engine.disconnectSync();
      instance.closeSync();
      await scene.admin.data('POST', '/api/v1/datasources', { name: 'lake', display_name: 'Lake', dialect: 'LAKE', jdbc_url: 'jdbc:duckdb:' });
      const at = (name: string) => ({ format: 'parquet', location: `file://${root}/${name}.parquet` });
      const made = await scene.tool('lake_tables_register', { name: 'lake', namespace: 'raw', table: 'a', ...at('a') });
      expect([made.namespace, made.name, made.last_error]).toEqual([['raw'], 'a', null]);
      expect((await scene.refusal('lake_tables_register', { name: 'lake', namespace: ['raw'], table: 'a', ...at('a') })).code).toBe('datasource.lake_table_duplicate');
      expect((await scene.refusal('lake_tables_register', { name: 'lake', namespace: 'raw', table: 'c', ...at('c') })).code).toBe('datasource.validation.lake_table_unreadable');
      const imported = await scene.tool('lake_tables_import', { name: 'lake', namespace: 'raw', tables: [{ name: 'a', ...at('a') }, { name: 'b', ...at('b') }] });
      expect([Number(imported.registered_count), Number(imported.already_registered_count)]).toEqual([1, 1]);
      expect((await scene.tool('sql_probe', { name: 'lake', sql: 'SELECT big FROM raw.b' })).rows).toEqual([['9007199254740993']]);
      expect((await scene.tool('datasources_get_table_stats', { name: 'lake', table: 'a', namespace: 'raw' })).stats_source).toEqual(expect.any(String));
      expect(await scene.tool('lake_tables_unregister', { name: 'lake', namespace: 'raw', table: 'b' })).toMatchObject({ table: 'b', unregistered: true });
      expect((await scene.refusal('lake_tables_unregister', { name: 'lake', namespace: 'raw', table: 'b' })).code).toBe('datasource.lake_table_not_found');
    }); // prettier-ignore
  });

  factsAsTools(() => scene);
  documentsAndResources(() => ({ scene, pipelineId }));

  it('prompts are listed and given', async () => {
    const { prompts } = await scene.client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['analyze_pipeline', 'debug_failed_execution', 'create_pipeline_for_question']);
    const { messages } = await scene.client.getPrompt({ name: 'create_pipeline_for_question', arguments: { question: 'What?' } });
    expect(JSON.stringify(messages)).toContain('<<<QUESTION');
    await expect(scene.client.getPrompt({ name: 'analyze_pipeline', arguments: { pipeline_id: 'x' } })).rejects.toMatchObject({ code: -32602 });
  }); // prettier-ignore

  it('have all given results here, and each holds what its schema declares, and nothing else', async () => {
    const { tools } = await scene.client.listTools();
    const seen = new Set(scene.answered.map(({ name }) => name));
    expect(tools.map(({ name }) => name).filter((name) => !seen.has(name))).toEqual([]);
    const schemas = new Map(tools.map(({ name, outputSchema }) => [name, outputSchema as ResultSchema]));
    const undeclared = new Set(scene.answered.flatMap(({ name, structured }) => undeclaredIn(schemas.get(name)!, structured, name)));
    expect([...undeclared].sort()).toEqual([]);
  }); // prettier-ignore

  auditTrailOfTools(() => ({ scene, pipelineId }));
});
