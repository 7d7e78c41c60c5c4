import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { ApiClient } from '../fixtures/api-client.js';
import { releasedPipeline, releasedTemplate } from '../fixtures/authoring.js';
import { Deployment } from '../fixtures/deployment.js';
import { officialClient } from '../fixtures/mcp.js';
import { postgresSource, runSql } from '../fixtures/mcp-scene.js';
import { addPerson, signIn } from '../fixtures/people.js';
import { createEmptyDatabase, type EmptyDatabase } from '../fixtures/postgres.js';
import { describeWithProgram } from '../fixtures/programs.js';

/** 20 tables here and 20 there; two of them matter. */
const NOISE = Array.from({ length: 19 }, (_, at) => `CREATE TABLE archive_${at} (id integer, note text);`).join('\n');
const SALES = `
  ${NOISE}
  CREATE TABLE sale_lines (line_id bigint PRIMARY KEY, customer_no integer NOT NULL, amount bigint NOT NULL, sold_on date NOT NULL);
  INSERT INTO sale_lines VALUES
    (9007199254740993, 1, 123456, '2026-02-27'), (2, 1, 50, '2026-02-28'), (3, 2, 9007199254740993, '2026-02-28'), (4, 3, 7, '2025-12-31');`;
const PEOPLE = `
  ${NOISE}
  CREATE TABLE customer_regions (customer_no INTEGER PRIMARY KEY, region TEXT NOT NULL);
  INSERT INTO customer_regions VALUES (1, 'north'), (2, 'south'), (3, 'north');`;

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- results of every tool
type Json = any;

/** An agent with nothing but MCP: it knows tool names and reads answers. */
class Agent {
  constructor(readonly client: Client) {}

  async do(name: string, args: Record<string, unknown> = {}): Promise<Json> {
    const result = await this.client.callTool({ name, arguments: args });
    const [{ text }] = result.content as [{ text: string }];
    if (result.isError) throw Object.assign(new Error(text), { refused: (JSON.parse(text) as Json).error });
    return JSON.parse(text);
  }

  /** The error of a call that the application refuses. */
  async refused(name: string, args: Record<string, unknown>): Promise<Json> {
    const error = await this.do(name, args).then(
      () => undefined,
      (failure: { refused?: Json }) => failure.refused,
    );
    if (!error) throw new Error(`${name} was not refused`);
    return error;
  }
}

describeWithProgram('redis-server', 'an agent’s day', (redis) => {
  let deployment: Deployment;
  let source: EmptyDatabase;
  let agent: Agent;
  let foreignPipeline: string;
  let key: string;

  beforeAll(async () => {
    [deployment, source] = await Promise.all([Deployment.start({ redis }), createEmptyDatabase()]);
    await runSql(source.url, SALES);
    const file = join(deployment.files, 'people.db');
    const people = new DatabaseSync(file);
    people.exec(PEOPLE);
    people.close();
    const admin = deployment.admin.in('default');
    await admin.data('POST', '/api/v1/datasources', postgresSource('sales', source));
    await admin.data('POST', '/api/v1/datasources', {
      name: 'people', display_name: 'people', dialect: 'SQLITE', jdbc_url: `jdbc:sqlite:${file}`, credential: { kind: 'none' },
    });
    // What a colleague knows, and an agent has to find.
    await admin.data('POST', '/api/v1/datasources/sales/facts', {
      scope: 'DATASOURCE', kind: 'unit', fact: 'sale_lines.amount is in cents.', refs: [{ schema: 'public', table: 'sale_lines', column: 'amount' }],
    });
    // Another workspace, which the agent's owner does not belong to.
    await deployment.admin.data('POST', '/api/v1/workspaces', { name: 'elsewhere', display_name: 'Elsewhere' });
    await addPerson(deployment, 'stranger', { memberships: { elsewhere: { admin: true } } });
    const stranger = await signIn(deployment, 'stranger');
    await stranger.data('POST', '/api/v1/datasources', postgresSource('elsewhere-pg', source));
    await releasedTemplate(stranger, { id: 'elsewhere/secret.sql', dialect: 'POSTGRES', body: 'SELECT 1 AS one' });
    foreignPipeline = await releasedPipeline(stranger, {
      name: 'elsewhere/secret', nodes: [{ id: 'read', type: 'DQL', source: 'elsewhere-pg', template: { id: 'elsewhere/secret.sql', version: 1 } }],
    });
    await addPerson(deployment, 'author', { memberships: { default: { author: true } } });
    const author = await signIn(deployment, 'author');
    ({ key } = await author.data('POST', '/api/v1/auth/api-keys', { name: 'agent', scopes: ['author'] }));
    agent = new Agent(await officialClient(deployment.server.baseUrl, key));
    await agent.client.listTools();
  }, 120_000);

  afterAll(async () => {
    await agent?.client.close();
    const failures = deployment?.server.output.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
    await deployment?.stop();
    await source?.drop();
    expect(failures).toEqual([]);
  });

  let pipeline: Json;

  it('finds its way into 40 tables it has never seen, and what is known of them', async () => {
    expect(agent.client.getInstructions()).toContain('datasources_list');
    expect((await agent.do('docs_get', { name: 'skill' })).markdown).toContain('pipelines_create');
    const sources: Json[] = await agent.do('datasources_list');
    expect(sources.map(({ name, dialect }) => [name, dialect])).toEqual([['people', 'SQLITE'], ['sales', 'POSTGRES']]);
    const found: Json[] = [];
    for (const { name } of sources) {
      const { tables, truncated } = await agent.do('datasources_get_tables', { name });
      expect([tables.length, truncated]).toEqual([20, false]);
      for (const table of tables) if (!table.name.startsWith('archive_')) found.push({ source: name, ...table });
    }
    expect(found.map(({ name }) => name)).toEqual(['customer_regions', 'sale_lines']);
    // A misspelt table is answered with the right one; the agent follows the suggestion.
    const { details } = await agent.refused('datasources_get_columns', { name: 'sales', table: 'sale_line' });
    const columns: Json[] = await agent.do('datasources_get_columns', { name: 'sales', table: details.suggestion });
    const amount = columns.find(({ name }) => name === 'amount');
    expect([amount.type, amount.facts[0].fact, amount.facts[0].trust]).toEqual(['BIGINTEGER', 'sale_lines.amount is in cents.', 'asserted']);
  });

  it('looks at values before it writes, and a call it gets wrong says how it is right', async () => {
    const wrong = await agent.do('sql_probe', { name: 'sales', statement: 'SELECT 1' }).catch((error: unknown) => error);
    expect(wrong).toBeInstanceOf(McpError);
    expect((wrong as McpError).message).toContain('sql_probe takes: name, sql');
    const { rows } = await agent.do('sql_probe', {
      name: 'sales', sql: 'SELECT min(sold_on), max(sold_on), count(*) FROM sale_lines WHERE sold_on >= :since',
      parameters: { since: { type: 'DATE', value: '2026-01-01' } },
    });
    expect(rows).toEqual([['2026-02-27', '2026-02-28', '3']]);
    const preview = await agent.do('datasources_preview_rows', { name: 'people', table: 'customer_regions', limit: 2 });
    expect([preview.rows.length, preview.truncated]).toEqual([2, true]);
  });

  it('writes templates and a pipeline draft, and mends it by the refusals alone', async () => {
    const template = (id: string, dialect: string, body: string) =>
      agent.do('templates_create', { id, dialect, body, display_name: id, description: '', confirm_new_root: true });
    await template('revenue/lines.sql', 'POSTGRES', 'SELECT customer_no, amount / 100.0 AS euros FROM sale_lines WHERE sold_on >= :since');
    await template('revenue/regions.sql', 'SQLITE', 'SELECT customer_no, region FROM customer_regions');
    await template('revenue/by_region.sql', 'DUCKDB', 'SELECT region, sum(euros) AS euros, count(*) AS n FROM lines JOIN regions USING (customer_no) GROUP BY region ORDER BY region');
    expect(await agent.do('templates_render', { id: 'revenue/lines.sql', context: { since: '2026-01-01' } })).toContain(':since');
    const pin = (id: string, version = 1) => ({ id: `revenue/${id}.sql`, version });
    const document: Json = {
      name: 'revenue/by_region', display_name: 'Revenue by region',
      parameters: {},
      nodes: [
        { id: 'lines', type: 'DQL', source: 'sales', template: pin('lines'), output: { target: 'tempdb', table: 'lines' } },
        { id: 'regions', type: 'DQL', source: 'people', template: pin('regions', 7), output: { target: 'tempdb', table: 'regions' } },
        { id: 'report', type: 'DQL', source: 'tempdb', template: pin('by_region'), depends_on: ['lines'], output: { target: 'caller' } },
      ],
    };
    const codes = new Set<string>();
    // Nothing but the sentences of the refusals tells the agent what to change, and where.
    for (let tries = 0; pipeline === undefined && tries < 6; tries++) {
      try {
        pipeline = await agent.do('pipelines_create', { ...document, ...(codes.has('pipeline.validation.new_root_requires_confirmation') ? { confirm_new_root: true } : {}) });
      } catch (error) {
        const { refused } = error as { refused: Json };
        const failures: Json[] = refused.details.failures ?? [refused];
        for (const failure of failures) {
          codes.add(failure.code);
          const node = document.nodes[Number(/nodes\[(\d+)\]/.exec(failure.path ?? '')?.[1])];
          const [, undeclared] = /:(\w+) names nothing in the Context\. Declare it/.exec(failure.message) ?? [];
          const [, unordered] = /add "(\w+)" to "depends_on"/.exec(failure.message) ?? [];
          if (undeclared) document.parameters[undeclared] = { type: 'DATE', required: true };
          if (unordered) node.depends_on.push(unordered);
          if (/has no usable version/.test(failure.message)) node.template.version = 1;
        }
      }
    }
    expect(pipeline).toMatchObject({ status: 'DRAFT' });
    expect([...codes]).toEqual(expect.arrayContaining([
      'pipeline.validation.new_root_requires_confirmation', 'pipeline.validation.template_parameter_undeclared', 'pipeline.validation.template_version_not_found', 'pipeline.validation.tempdb_input_unordered',
    ]));
  });

  it('tries a node, runs the draft, and reads every row exactly', async () => {
    const trial = await agent.do('pipelines_execute_node', { pipeline_id: pipeline.id, node_id: 'regions' });
    expect(trial.rows).toHaveLength(3);
    const missing = await agent.refused('pipelines_execute', { id: pipeline.id });
    expect([missing.code, missing.details.parameter]).toEqual(['pipeline.execution.parameter_required', 'since']);
    const run = await agent.do('pipelines_execute', { id: pipeline.id, parameters: { [missing.details.parameter]: '2026-01-01' }, idempotency_key: 'day-1' });
    expect([run.status, String(run.total_rows)]).toEqual(['SUCCESS', '2']);
    const pages: Json[] = [];
    for (let offset = 0, more = true; more; offset++) {
      const page = await agent.do('executions_get_result', { execution_id: run.execution_id, offset, limit: 1 });
      pages.push(...page.rows);
      more = page.has_more;
    }
    expect(pages).toEqual(run.rows);
    expect(pages.map(([region, euros]: string[]) => [region, Number.parseFloat(String(euros)).toFixed(2)])).toEqual([['north', '1235.06'], ['south', '90071992547409.94']]);
    expect(String(pages[1][1])).toMatch(/^90071992547409\.930*$/);
  });

  it('records what it learned, with evidence, and the next reader sees it', async () => {
    const recorded = await agent.do('semantics_record', {
      scope: 'DATASOURCE', datasource: 'sales', kind: 'window', fact: 'sale_lines holds sales from the end of 2025 on.',
      refs: [{ schema: 'public', table: 'sale_lines' }], evidence_sql: 'SELECT min(sold_on) AS first_day FROM sale_lines',
    });
    expect([recorded.trust, recorded.recorded_via, recorded.evidence_summary]).toEqual(['observed', 'mcp', expect.stringContaining('2025-12-31')]);
    const { tables } = await agent.do('datasources_get_tables', { name: 'sales' });
    const told = tables.find(({ name }: Json) => name === 'sale_lines').facts.map(({ fact }: Json) => fact);
    expect(told).toContain(recorded.fact);
    const again = await agent.refused('semantics_record', {
      scope: 'DATASOURCE', datasource: 'sales', kind: 'window', fact: recorded.fact, refs: [{ schema: 'public', table: 'sale_lines' }],
    });
    expect([again.code, again.details.existing_id]).toEqual(['semantics.duplicate', recorded.id]);
    expect((await agent.do('semantics_list', { datasource: 'sales' })).facts).toHaveLength(2);
  });

  it('declares a check and sees it pass', async () => {
    const { body_hash, ...view } = await agent.do('pipelines_get', { id: pipeline.id });
    const { name, display_name, nodes, parameters } = view;
    pipeline = await agent.do('pipelines_update', {
      id: pipeline.id, expected_hash: body_hash, name, display_name, nodes, parameters,
      checks: [{ id: 'known_customers', name: 'Every line has a customer', datasource: 'sales', sql: 'SELECT line_id FROM sale_lines WHERE customer_no NOT IN (1, 2, 3)', expected: { kind: 'rows', rows: 0 } }],
    });
    const { runs } = await agent.do('pipelines_run_checks', { id: pipeline.id });
    expect(runs.map(({ check_id, verdict }: Json) => [check_id, verdict])).toEqual([['known_customers', 'pass']]);
  });

  it('cannot release, and does not see what is elsewhere', async () => {
    const { tools } = await agent.client.listTools();
    expect(tools.filter(({ name }) => /release|promote|grant|member|key/.test(name))).toEqual([]);
    await expect(agent.do('pipelines_release', { id: pipeline.id })).rejects.toThrow('There is no tool');
    // Nor by another door: the key is its owner's, and the owner may not.
    const rest = ApiClient.withKey(deployment.server.baseUrl, key);
    const released = await rest.call('POST', `/api/v1/pipelines/${pipeline.id}/release`, { expected_hash: pipeline.body_hash });
    expect([released.status, released.body.error.code]).toEqual([403, 'auth.key_issuer_role_lost']);
    expect((await agent.do('pipelines_get', { id: pipeline.id })).status).toBe('DRAFT');
    expect((await agent.refused('pipelines_get', { id: foreignPipeline })).code).toBe('pipeline.execution.not_found');
    expect((await agent.refused('pipelines_execute', { id: foreignPipeline })).code).toBe('pipeline.execution.not_found');
    expect((await agent.refused('datasources_get', { name: 'elsewhere-pg' })).code).toBe('datasource.not_found');
    for (const list of ['pipelines_list', 'templates_list', 'datasources_list', 'executions_list', 'endpoints_list']) {
      expect([list, JSON.stringify(await agent.do(list)).includes('elsewhere')]).toEqual([list, false]);
    }
    const { resources } = await agent.client.listResources();
    expect(resources.filter(({ uri }) => uri.includes('elsewhere') || uri.includes(foreignPipeline))).toEqual([]);
    for (const uri of [`datapipelines://pipelines/${foreignPipeline}`, 'datapipelines://templates/elsewhere/secret.sql', 'datapipelines://datasources/elsewhere-pg']) {
      await expect(agent.client.readResource({ uri })).rejects.toMatchObject({ code: -32002 });
    }
  });
}); // prettier-ignore
