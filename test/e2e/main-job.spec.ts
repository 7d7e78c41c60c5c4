import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import pg from 'pg';
import { ApiClient, collect } from '../fixtures/api-client.js';
import { oneNodePipeline } from '../fixtures/authoring.js';
import { contractMetrics, missingMetrics } from '../fixtures/contract-metrics.js';
import { Deployment } from '../fixtures/deployment.js';
import { root } from '../fixtures/keeper-state.js';
import { createEmptyDatabase, type EmptyDatabase } from '../fixtures/postgres.js';
import { describeWithProgram } from '../fixtures/programs.js';

/** The values that lose a digit, a zero, a zone or a quote when anything on the way is careless. */
const HOSTILE = `x'; DROP TABLE t; -- :id $1 \${y} 😀`;
const EXTREMES = {
  big: '9223372036854775807',
  exact: '1234567890123456789012345678.0123456789',
  moment: '2024-02-29T23:59:59.999999Z',
};

describeWithProgram('redis-server', 'the main job, from outside', (redis) => {
  let deployment: Deployment;
  let source: EmptyDatabase;
  let pipelineId: string;
  let executionId: string;
  let app: ApiClient;

  beforeAll(async () => {
    deployment = await Deployment.start({ redis });
    source = await createEmptyDatabase();
    await buildSources(source.superuserUrl, deployment.files);
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
    await source?.drop();
  });

  it('registers a datasource of each engine, and tests it', async () => {
    const { admin } = deployment;
    const { host, pathname, username, password } = new URL(source.url);
    const bodies = [
      {
        name: 'orders-pg',
        display_name: 'Orders',
        dialect: 'POSTGRES',
        jdbc_url: `jdbc:postgresql://${host}${pathname}`,
        credential: { kind: 'password', username, secret: password },
      },
      {
        name: 'people-lite',
        display_name: 'People',
        dialect: 'SQLITE',
        jdbc_url: `jdbc:sqlite:${join(deployment.files, 'people.sqlite')}`,
        credential: { kind: 'none' },
      },
      {
        name: 'rates-duck',
        display_name: 'Rates',
        dialect: 'DUCKDB',
        jdbc_url: `jdbc:duckdb:${join(deployment.files, 'rates.duckdb')}`,
        credential: { kind: 'none' },
      },
    ];
    for (const body of bodies) {
      const created = await admin.in('default').call('POST', '/api/v1/datasources', body);
      expect([body.name, created.status, created.text.includes(password)]).toEqual([body.name, 201, false]);
      const tested = await admin.in('default').data('POST', `/api/v1/datasources/${body.name}/test`);
      expect(tested).toMatchObject({ connected: true });
    }
    const columns = await deployment.author.call('GET', '/api/v1/datasources/orders-pg/tables/orders/columns');
    expect(columns.text).toContain('"BIGINTEGER"');
  });

  it('writes templates and releases them', async () => {
    const templates = [
      [
        'shop/report/orders.sql',
        'POSTGRES',
        'SELECT id, person_id, amount, placed_at, note FROM orders WHERE note = :note AND id <= :big AND placed_at <= :moment',
      ],
      ['shop/report/people.sql', 'SQLITE', 'SELECT id, name FROM people'],
      ['shop/report/rates.sql', 'DUCKDB', 'SELECT person_id, rate FROM rates'],
      [
        'shop/report/join.sql',
        'DUCKDB',
        'SELECT o.id, p.name, o.amount, o.placed_at, o.note, r.rate, CAST(:exact AS DECIMAL(38, 10)) AS exact FROM stg_orders o JOIN stg_people p ON p.id = o.person_id JOIN stg_rates r ON r.person_id = p.id ORDER BY o.id',
      ],
    ] as const;
    for (const [id, dialect, body] of templates) {
      const created = await deployment.author.data('POST', '/api/v1/templates', {
        id,
        dialect,
        body,
        display_name: id,
        description: '',
      });
      expect(created).toMatchObject({ status: 'DRAFT', current_version: null });
      const released = await deployment.author.data(
        'POST',
        '/api/v1/templates/release',
        { name: id },
        { headers: { 'If-Match': `"${created.body_hash}"` } },
      );
      expect(released.status).toBe('RELEASED');
    }
  });

  it('writes a pipeline; a stale write and a stale release are refused with both hashes', async () => {
    const node = (id: string, datasource: string) => ({
      id,
      type: 'DQL',
      source: datasource,
      template: { id: `shop/report/${id}.sql`, version: 1 },
      output: { target: 'tempdb', table: `stg_${id}` },
    });
    const document = {
      name: 'shop/report/by_person',
      display_name: 'Orders by person',
      description: 'Three engines, one report.',
      parameters: {
        note: { type: 'STRING', required: true },
        big: { type: 'BIGINTEGER', required: true },
        exact: { type: 'BIGDECIMAL', precision: 38, scale: 10, required: true },
        moment: { type: 'TIMESTAMP', required: true },
      },
      nodes: [
        node('orders', 'orders-pg'),
        node('people', 'people-lite'),
        node('rates', 'rates-duck'),
        {
          id: 'join',
          type: 'DQL',
          source: 'tempdb',
          template: { id: 'shop/report/join.sql', version: 1 },
          depends_on: ['orders', 'people', 'rates'],
        },
      ],
    };
    const created = await deployment.author.data('POST', '/api/v1/pipelines', document);
    pipelineId = created.id;
    const stale = { headers: { 'If-Match': '0'.repeat(64) } };
    const write = await deployment.author.call(
      'PUT',
      `/api/v1/pipelines/${pipelineId}`,
      { ...document, description: 'other' },
      stale,
    );
    expect(write.status).toBe(409);
    expect(write.body.error).toMatchObject({
      code: 'pipeline.version.conflict',
      details: { current_body_hash: created.body_hash },
    });
    const early = await deployment.author.call('POST', `/api/v1/pipelines/${pipelineId}/release`, undefined, stale);
    expect([early.status, early.body.error.code]).toEqual([409, 'pipeline.version.conflict']);
    const released = await deployment.author.data('POST', `/api/v1/pipelines/${pipelineId}/release`, undefined, {
      headers: { 'If-Match': created.body_hash },
    });
    expect(released).toMatchObject({ status: 'RELEASED', current_version: expect.anything() });
  });

  it('runs it and streams every event once, in order, with exact values to the end', async () => {
    const parameters = { note: HOSTILE, ...EXTREMES };
    const frames = await collect(
      deployment.author.events('POST', `/api/v1/pipelines/${pipelineId}/execute`, { parameters }),
    );
    expect(frames.map(({ id }) => id)).toEqual(frames.map((_, index) => index + 1));
    expect(frames[0]?.event).toBe('execution_started');
    expect(frames.slice(-2).map(({ event }) => event)).toEqual(['pipeline_completed', 'data_ready']);
    const ready = frames.at(-1)?.data;
    executionId = ready.execution_id;
    expect(ready.rows.map(String)).toHaveLength(1);
    expect(ready.rows[0].map(String)).toEqual([
      EXTREMES.big,
      'Zoë',
      '0.10',
      EXTREMES.moment,
      HOSTILE,
      '0.5',
      EXTREMES.exact,
    ]);
  });

  it('replays the same events after the end, from any resume point', async () => {
    const path = `/api/v1/executions/${executionId}/events`;
    const all = await collect(deployment.author.events('GET', path));
    const rest = await collect(deployment.author.events('GET', path, undefined, { headers: { 'Last-Event-ID': '3' } }));
    expect(rest).toEqual(all.slice(3));
    const nothing = await deployment.author.call('GET', path, undefined, {
      headers: { 'Last-Event-ID': String(all.length) },
    });
    expect(nothing.status).toBe(204);
    const page = await deployment.author.data('GET', `${path}?format=json&after=1&limit=2`);
    expect([page.events.map((event: { event_id: unknown }) => Number(event.event_id)), page.has_more]).toEqual([
      [2, 3],
      true,
    ]);
  });

  it('reads the rows through the cursor, as JSON and as CSV', async () => {
    const page = await deployment.author.data('GET', `/api/v1/executions/${executionId}/result?offset=0&limit=5`);
    expect(page.schema.map(({ name, type }: { name: string; type: string }) => `${name} ${type}`)).toEqual([
      'id BIGINTEGER', 'name STRING', 'amount DECIMAL', 'placed_at TIMESTAMP', 'note STRING', 'rate DECIMAL', 'exact BIGDECIMAL',
    ]); // prettier-ignore
    const csv = await deployment.author.call('GET', `/api/v1/executions/${executionId}/result?format=csv`);
    expect(csv.text.split('\r\n')[1]).toContain(`,${EXTREMES.moment},`);
    const beyond = await deployment.author.data('GET', `/api/v1/executions/${executionId}/result?offset=99`);
    expect(beyond.rows).toEqual([]);
    const parquet = await deployment.author.call('GET', `/api/v1/executions/${executionId}/result?format=parquet`);
    expect([parquet.status, parquet.body.error.code]).toEqual([400, 'result.format_unsupported']);
  });

  it('publishes it; a bound endpoint key may call it and read its own run, and nothing else', async () => {
    const published = await deployment.author.call('POST', '/api/v1/endpoints', {
      path: '/shop/{note}/report',
      pipeline: 'shop/report/by_person',
    });
    expect(published.status).toBe(201);
    const minted = await deployment.admin
      .in('default')
      .data('POST', '/api/v1/auth/api-keys', { name: 'app', kind: 'endpoint', bindings: ['/shop'] });
    app = ApiClient.withKey(deployment.server.baseUrl, minted.key);
    const query = new URLSearchParams(EXTREMES);
    const answer = await app.call('GET', `/api/x/shop/${encodeURIComponent(HOSTILE)}/report?${query}`);
    // A slash inside a value would be a path of its own; this value has none.
    expect(answer.status).toBe(200);
    expect(answer.body.rows[0].map(String)).toEqual([
      EXTREMES.big,
      'Zoë',
      '0.10',
      EXTREMES.moment,
      HOSTILE,
      '0.5',
      EXTREMES.exact,
    ]);
    const own = await app.call('GET', `/api/v1/executions/${answer.headers.get('DP-Execution-Id')}/result`);
    expect(own.status).toBe(200);
    const foreign = await app.call('GET', `/api/v1/executions/${executionId}/result`);
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'result.execution_not_found']);
    const elsewhere = await app.call('GET', '/api/v1/pipelines');
    expect([elsewhere.status, elsewhere.body.error.code]).toEqual([403, 'endpoint.key_kind_refused']);
  });

  it.each([
    ['orders-pg', 'POSTGRES', 'SELECT id FROM orders WHERE 1 = 0'],
    ['people-lite', 'SQLITE', 'SELECT name FROM people WHERE 1 = 0'],
    ['rates-duck', 'DUCKDB', 'SELECT rate FROM rates WHERE 1 = 0'],
    ['tempdb', 'DUCKDB', 'SELECT 1 AS one WHERE 1 = 0'],
  ])(
    'answers an endpoint whose query on %s finds nothing with no rows, as JSON and as CSV',
    async (source, dialect, sql) => {
      const name = `empty/${source}`;
      await oneNodePipeline(deployment.author, { name, source, dialect, sql });
      await deployment.author.data('POST', '/api/v1/endpoints', { path: `/${name}`, pipeline: name });
      const answer = await deployment.author.call('GET', `/api/x/${name}`);
      expect([answer.status, answer.body.rows, Number(answer.body.total_rows), answer.body.schema.length]).toEqual([
        200,
        [],
        0,
        1,
      ]);
      const csv = await deployment.author.call(
        'GET',
        `/api/v1/executions/${answer.headers.get('DP-Execution-Id')}/result?format=csv`,
      );
      expect(csv.text.trim()).toBe(answer.body.schema[0].name);
    },
  );

  it('names every defect of an endpoint call at once', async () => {
    const answer = await app.call('GET', '/api/x/shop/n/report?big=1.5&unknown=1&moment=yesterday&big=2');
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe('endpoint.request.invalid');
    const found = answer.body.error.details.errors.map(
      ({ parameter, code }: { parameter: string; code: string }) => `${parameter} ${code.split('.').at(-1)}`,
    );
    expect(found).toEqual(
      expect.arrayContaining([
        'big parameter_repeated',
        'unknown parameter_unknown',
        'moment invalid_parameter_type',
        'exact parameter_required',
      ]),
    );
  });

  it('counts what it did, on the management port only', async () => {
    const scraped = await (await fetch(`${deployment.server.managementUrl}/metrics`)).text();
    for (const line of [
      'datapipelines_executions_total{status="SUCCESS"',
      'datapipelines_http_server_requests_seconds_count{method="POST",uri="/api/v1/pipelines/:id/execute",status="200"} 1',
      'datapipelines_eventloop_delay_seconds',
      'datapipelines_sse_stream_duration_seconds_count{close_reason="completed"}',
    ]) {
      expect([line, scraped.includes(line)]).toEqual([line, true]);
    }
    expect(missingMetrics(scraped)).toEqual([]);
    // The list is read, not passed over: a name that nobody counts is found missing.
    expect(missingMetrics('')).toHaveLength(contractMetrics().length);
    for (const file of ['grafana-dashboard.json', 'prometheus-alerts.yml']) {
      const named = readFileSync(join(root, 'deploy', file), 'utf8').match(/datapipelines_[a-z_]+/g) ?? [];
      expect(named.length).toBeGreaterThan(5);
      const families = new Set(scraped.match(/^# TYPE (\S+)/gm)?.map((line) => line.slice('# TYPE '.length)));
      const family = (name: string) => (families.has(name) ? name : name.replace(/_(?:count|bucket|sum)$/, ''));
      // A dashboard that asks for what nobody counts shows nothing, and an alert on it never fires.
      expect([file, named.filter((name) => !families.has(family(name)))]).toEqual([file, []]);
    }
    expect(scraped).not.toMatch(/dpk_|ops\.lead/);
    expect((await deployment.author.call('GET', '/metrics')).status).toBe(404);
  });

  it('leaves the trail of every act, without a secret in it', async () => {
    const client = new pg.Client({ connectionString: deployment.database.superuserUrl });
    await client.connect();
    try {
      const { rows } = await client.query<{ event: string; details: string }>(
        'SELECT event, details_json::text AS details FROM audit_log',
      );
      const events = new Set(rows.map(({ event }) => event));
      for (const event of [
        'datasource.created',
        'template.version.released',
        'pipeline.version.released',
        'endpoint.published',
        'endpoint.served',
        'auth.api_key.created',
      ]) {
        expect([event, events.has(event)]).toEqual([event, true]);
      }
      const served = rows.filter(({ event }) => event === 'endpoint.served').map(({ details }) => details);
      for (const outcome of ['started', 'completed']) {
        expect(served.some((details) => details.includes(`"outcome": "${outcome}"`))).toBe(true);
      }
      // Why the server went to somebody's database: the run that asked for it (contract 06 §5).
      const { rows: built } = await client.query<{ named: boolean }>(
        `SELECT EXISTS (SELECT 1 FROM pipeline_executions e WHERE e.execution_id::text = details_json ->> 'execution_id') AS named
           FROM audit_log WHERE event = 'datasource.pool_build' AND details_json ? 'execution_id'`,
      );
      expect(built).not.toEqual([]);
      expect(built.every(({ named }) => named)).toBe(true);
      const secret = new URL(source.url).password;
      expect(
        rows.filter(
          ({ details }) =>
            details.includes(secret) || (details.includes('dpk_') === true && /dpk_[A-Z2-7]{12}\./.test(details)),
        ),
      ).toEqual([]);
    } finally {
      await client.end();
    }
    expect(deployment.server.output).not.toContain(new URL(source.url).password);
  });
});

async function buildSources(superuserUrl: string, files: string): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  await client.query(
    'CREATE TABLE orders (id int8, person_id int4, amount numeric(12, 2), placed_at timestamptz, note text)',
  );
  await client.query('INSERT INTO orders VALUES ($1, 1, 0.10, $2, $3), (7, 1, 5, now(), $4)', [
    EXTREMES.big,
    EXTREMES.moment,
    HOSTILE,
    'another',
  ]);
  await client.query('GRANT SELECT ON orders TO PUBLIC');
  await client.end();

  const people = new DatabaseSync(join(files, 'people.sqlite'));
  people.exec(
    `CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO people VALUES (1, 'Zoë'), (2, NULL)`,
  );
  people.close();

  const instance = await DuckDBInstance.create(join(files, 'rates.duckdb'));
  const connection = await instance.connect();
  await connection.run('CREATE TABLE rates AS SELECT 1 AS person_id, CAST(0.5 AS DECIMAL(2, 1)) AS rate');
  connection.closeSync();
  instance.closeSync();
}
