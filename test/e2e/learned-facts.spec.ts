import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { writeJson, type JsonValue } from '#libs/kernel';
import { ApiClient } from '../fixtures/api-client.js';
import { Deployment } from '../fixtures/deployment.js';
import { ask, codesOf, data } from '../fixtures/graphql.js';
import { describeWithProgram } from '../fixtures/programs.js';

const FACT = {
  scope: 'DATASOURCE',
  kind: 'unit',
  fact: 'total_cents holds <b>cents</b> of euro',
  refs: [{ table: 'orders', column: 'total_cents' }],
};

/** Small counts as plain numbers; what must stay exact is a text anyway. */
function plain(value: JsonValue): unknown {
  return JSON.parse(writeJson(value));
}

describeWithProgram('redis-server', 'learned facts, probes and statistics through the doors', (redis) => {
  let deployment: Deployment;
  let admin: ApiClient;
  let agent: ApiClient;

  beforeAll(async () => {
    deployment = await Deployment.start({ redis });
    admin = deployment.admin.in('default');
    const path = join(deployment.files, 'orders.sqlite');
    const file = new DatabaseSync(path);
    file.exec(
      'CREATE TABLE orders (id INTEGER PRIMARY KEY, total_cents BIGINT); INSERT INTO orders VALUES (1, 9007199254740993), (2, NULL)',
    );
    file.close();
    const body = {
      name: 'shop',
      display_name: 'Shop',
      dialect: 'SQLITE',
      jdbc_url: `jdbc:sqlite:${path}`,
      credential: { kind: 'none' },
    };
    await admin.data('POST', '/api/v1/datasources', body);
    const created = await admin.data('POST', '/api/v1/auth/api-keys', { name: 'agent', scopes: ['author'] });
    agent = ApiClient.withKey(deployment.server.baseUrl, created.key as string);
  }, 90_000);

  afterAll(async () => await deployment?.stop());

  it('one door records what every door shows, in the same words', async () => {
    const recorded = await agent.data('POST', '/api/v1/datasources/shop/facts', {
      ...FACT,
      evidence_sql: 'SELECT max(total_cents) AS most FROM orders',
    });
    expect(recorded).toMatchObject({
      trust: 'observed',
      recorded_via: 'api_key',
      evidence_summary: 'most=9007199254740993',
      refs_added: [],
    });
    const columns = (await agent.data('GET', '/api/v1/datasources/shop/tables/orders/columns')) as unknown as {
      name: string;
      facts?: unknown[];
    }[];
    expect(columns.find(({ name }) => name === 'total_cents')?.facts).toEqual([
      expect.objectContaining({ id: recorded.id, fact: FACT.fact, trust: 'observed' }),
    ]);
    const { facts } = await agent.data('GET', '/api/v1/datasources/shop/facts?table=orders&scope=DATASOURCE');
    expect(facts).toEqual([expect.objectContaining({ id: recorded.id, datasource: 'shop' })]);
    const shown = await data(
      admin,
      `{ datasourceColumns(name: "shop", table: "orders") { name facts { id fact trust conflict recordedVia recordedBy { displayName } } }
         learnedFacts(filter: {datasource: "shop"}) { totalCount nodes { id refs supersedes { id } sourcePipeline { id } } }
         datasource(name: "shop") { facts(first: 1) { totalCount nodes { id kind evidenceSummary } } }
         datasourceTables(name: "shop") { tables { name facts { id } } } }`,
    );
    expect(shown.datasourceColumns[1]).toMatchObject({
      facts: [{ id: recorded.id, trust: 'OBSERVED', recordedVia: 'API_KEY', conflict: false }],
    });
    expect(plain(shown.learnedFacts)).toMatchObject({
      totalCount: 1,
      nodes: [{ id: recorded.id, refs: [{ table: 'orders', column: 'total_cents' }] }],
    });
    expect(plain(shown.datasource.facts)).toMatchObject({ totalCount: 1, nodes: [{ kind: 'UNIT' }] });
    expect(shown.datasourceTables.tables).toEqual([{ name: 'orders', facts: [] }]);
  });

  it('refuses through GraphQL as through REST', async () => {
    const rest = await agent.call('POST', '/api/v1/datasources/shop/facts', FACT);
    const mutation = 'mutation($input: RecordFactInput!) { recordFact(input: $input) { fact { id } refsAdded } }';
    const graphql = await ask(admin, mutation, { input: { ...FACT, kind: 'UNIT', datasource: 'shop' } });
    expect([rest.status, codesOf(graphql)]).toEqual([409, ['semantics.duplicate']]);
    const hidden = { ...FACT, fact: 'total \u202E stnec' };
    expect((await agent.call('POST', '/api/v1/datasources/shop/facts', hidden)).text).toContain(
      'semantics.fact_invalid',
    );
    const unresolved = { ...FACT, kind: 'UNIT', datasource: 'shop', refs: [{ table: 'ordres' }] };
    expect(codesOf(await ask(admin, mutation, { input: unresolved }))).toEqual(['semantics.ref_unresolved']);
  });

  it('lets people confirm and end it, agents only end it', async () => {
    const { facts } = (await agent.data('GET', '/api/v1/datasources/shop/facts')) as { facts: { id: string }[] };
    const id = facts[0]?.id ?? '';
    expect((await agent.call('POST', `/api/v1/semantics/${id}/verify`)).text).toContain('auth.session.required');
    expect(await admin.data('POST', `/api/v1/semantics/${id}/verify`)).toMatchObject({ trust: 'verified' });
    expect((await agent.call('POST', `/api/v1/semantics/${id}/retire`, {})).status).toBe(400);
    expect(await agent.data('POST', `/api/v1/semantics/${id}/retire`, { reason: 'wrong after all' })).toMatchObject({
      trust: 'retired',
    });
    const { retireFact } = await data(
      admin,
      'mutation($id: ID!) { retireFact(input: {id: $id, reason: "again"}) { fact { trust retiredReason } } }',
      { id },
    );
    expect(retireFact.fact).toEqual({ trust: 'RETIRED', retiredReason: 'wrong after all' });
  });

  it('probes, previews and tells statistics over GraphQL, numbers exact', async () => {
    const probed = await data(
      admin,
      `query($parameters: JsonText) { sqlProbe(name: "shop", sql: "SELECT total_cents FROM orders WHERE id = :id", parametersJson: $parameters) { schema { name type } rows rowCount truncated wallMs plan }
         datasourcePreview(name: "shop", table: "orders", orderBy: [{column: "id", direction: "DESC"}], limit: 1) { rows truncated wallMs }
         datasourceTableStats(name: "shop", table: "orders") }`,
      { parameters: '{"id":{"type":"INTEGER","value":1}}' },
    );
    expect(plain(probed.sqlProbe)).toMatchObject({
      rows: [['9007199254740993']],
      rowCount: 1,
      truncated: false,
      plan: { scan: expect.stringMatching(/orders/) },
    });
    expect(plain(probed.datasourcePreview)).toEqual({ rows: [[2, null]], truncated: true, wallMs: null });
    expect(plain(probed.datasourceTableStats)).toMatchObject({
      stats_source: 'none',
      indexes: [{ name: 'rowid', primary: true }],
    });
    for (const [sql, code] of [
      ['DELETE FROM orders', 'BAD_USER_INPUT'],
      ['SELECT :missing', 'BAD_USER_INPUT'],
      ['SELECT nothing_here FROM orders', 'pipeline.node.query_execution_failed'],
    ] as const) {
      const refused = await ask(admin, 'query($sql: String!) { sqlProbe(name: "shop", sql: $sql) { rowCount } }', {
        sql,
      });
      expect([sql, codesOf(refused)]).toEqual([sql, [code]]);
    }
  });
});
