import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { register } from 'prom-client';
import { ApiClient, collect } from '../fixtures/api-client.js';
import { eventually } from '../fixtures/eventually.js';
import { ask, codesOf, data } from '../fixtures/graphql.js';
import { startGraphqlServer } from '../fixtures/graphql-server.js';
import type { LocalServer } from '../fixtures/local-server.js';
import { ADMIN } from '../fixtures/server-process.js';

let server: LocalServer;
let admin: ApiClient;
let reader: ApiClient;

beforeAll(async () => {
  ({ server, admin, reader } = await startGraphqlServer());
}, 90_000);

afterAll(async () => {
  await server?.stop();
});

describe('the door', () => {
  it('knows nobody without a credential, not even for the schema', async () => {
    const anyone = new ApiClient(server.baseUrl);
    for (const query of ['{ viewer { authMethod } }', '{ __schema { queryType { name } } }', 'not graphql']) {
      const answer = await ask(anyone, query);
      expect([answer.status, codesOf(answer), answer.body.data]).toEqual([401, ['auth.api_key.missing'], undefined]);
    }
  });

  it('turns away keys that are for something else', async () => {
    const created = await admin.data('POST', '/api/v1/auth/api-keys', { name: 'serving', kind: 'endpoint' });
    const answer = await ask(ApiClient.withKey(server.baseUrl, created.key), '{ viewer { authMethod } }');
    expect([answer.status, codesOf(answer)]).toEqual([403, ['endpoint.key_kind_refused']]);
  });

  it('requires the CSRF token of a cookie, and none of a key', async () => {
    const answer = await ask(admin, '{ viewer { authMethod } }', {}, { 'DP-CSRF-Token': 'forged' });
    expect([answer.status, codesOf(answer)]).toEqual([403, ['auth.csrf.invalid']]);
    expect((await ask(reader, '{ viewer { authMethod } }')).body.data.viewer.authMethod).toBe('api_key');
  });

  it.each([
    ['a list', '[{"query":"{viewer{authMethod}}"}]', 400, 'graphql.batching_disabled'],
    ['broken JSON', '{"query":', 400, 'pipeline.execution.invalid_parameter_type'],
    ['no query', '{"variables":{}}', 400, 'pipeline.execution.invalid_parameter_type'],
    [
      'variables as text',
      '{"query":"{viewer{authMethod}}","variables":"{}"}',
      400,
      'pipeline.execution.invalid_parameter_type',
    ],
    [
      'a doubled key',
      '{"query":"{viewer{authMethod}}","query":"{x}"}',
      400,
      'pipeline.execution.invalid_parameter_type',
    ],
    [
      '20,000 levels',
      `{"query":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
      400,
      'pipeline.execution.invalid_parameter_type',
    ],
    ['bad syntax', '{"query":"{ viewer {"}', 400, 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', '{"query":"{ nope }"}', 400, 'GRAPHQL_VALIDATION_FAILED'],
    ['a subscription', '{"query":"subscription { executionUpdated { id } }"}', 400, 'graphql.operation_not_allowed'],
    [
      'two operations',
      '{"query":"query A{viewer{authMethod}} query B{viewer{authMethod}}"}',
      400,
      'OPERATION_RESOLUTION_FAILURE',
    ],
    [
      'a number as JsonText',
      '{"query":"query($d: JsonText!){validatePipeline(definitionJson:$d){valid}}","variables":{"d":1}}',
      400,
      'BAD_USER_INPUT',
    ],
    [
      'an inline number as JsonText',
      '{"query":"{validatePipeline(definitionJson: 1){valid}}"}',
      400,
      'GRAPHQL_VALIDATION_FAILED',
    ],
  ])('refuses %s before anything runs, with no data', async (_what, raw, status, code) => {
    const answer = await admin.call('POST', '/graphql', undefined, { raw });
    expect([answer.status, codesOf(answer), answer.body.data]).toEqual([status, [code], undefined]);
    const [error] = answer.body.errors;
    expect(error.extensions).toMatchObject({
      correlation_id: answer.headers.get('DP-Correlation-Id'),
      user_message: expect.any(String),
      doc_url: expect.stringContaining(code),
    });
    expect(answer.text).not.toContain('stack');
  });

  it('refuses 3,000 aliases by their size, 1,000 by their tokens, 16 by their number', async () => {
    const many = (count: number): string =>
      `{ ${Array.from({ length: count }, (_, index) => `a${index}:viewer{authMethod}`).join(' ')} }`;
    expect(codesOf(await ask(reader, many(3000)))).toEqual(['graphql.document_too_large']);
    expect(codesOf(await ask(reader, many(1000)))).toEqual(['GRAPHQL_PARSE_FAILED']);
    expect(codesOf(await ask(reader, many(16)))).toEqual(['graphql.too_many_aliases']);
    expect(codesOf(await ask(reader, many(15)))).toEqual([]);
  });

  it('refuses other content types, bodies over the limit, and answers nobody reads', async () => {
    const form = await admin.call('POST', '/graphql', undefined, {
      raw: 'query={viewer{authMethod}}',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect([form.status, codesOf(form)]).toEqual([415, ['request.unsupported_media_type']]);
    const large = await ask(admin, `{ viewer { authMethod } } # ${'x'.repeat(1_100_000)}`);
    expect([large.status, codesOf(large)]).toEqual([413, ['request.body_too_large']]);
    const document = await ask(admin, `{ viewer { authMethod } } # ${'x'.repeat(70_000)}`);
    expect([document.status, codesOf(document)]).toEqual([400, ['graphql.document_too_large']]);
    const image = await ask(admin, '{ viewer { authMethod } }', {}, { Accept: 'image/png' });
    expect([image.status, codesOf(image)]).toEqual([406, ['request.not_acceptable']]);
  });

  it('counts operations by what they were and how they ended', async () => {
    const before = await counted();
    for (const query of [
      '{ viewer { authMethod } }',
      'mutation { createWorkspace(input: { name: "counted" }) { workspace { id } } }',
      '{ nothing }',
      '{',
    ])
      await reader.call('POST', '/graphql', { query });
    expect(await grownSince(before)).toEqual([
      ['mutation errors', 1],
      ['query success', 1],
      ['unknown refused', 2],
    ]);
  });

  it('answers in the media type that is asked for, and says what the operation cost', async () => {
    const answer = await ask(reader, '{ viewer { authMethod } }', {}, { Accept: 'application/graphql-response+json' });
    expect(answer.headers.get('Content-Type')).toBe('application/graphql-response+json; charset=utf-8');
    expect(answer.text).toBe(
      '{"data":{"viewer":{"authMethod":"api_key"}},"extensions":{"correlation_id":"' +
        answer.headers.get('DP-Correlation-Id') +
        '","cost":{"requested":1,"max":1000}}}',
    );
  });

  it('does not run queries from a link', async () => {
    const answer = await admin.call('GET', '/graphql?query={viewer{authMethod}}');
    expect([answer.status, codesOf(answer)]).toEqual([405, ['request.method_not_allowed']]);
  });
});

describe('root fields', () => {
  it('are judged one by one: a refused one leaves its siblings their answers', async () => {
    const answer = await ask(
      reader,
      '{ viewer { authMethod } datasourceGrants(name: "x") { grantedAt } workspaces { totalCount } }',
    );
    expect(answer.status).toBe(200);
    expect(codesOf(answer)).toEqual(['auth.session.required']);
    expect(answer.body.errors[0].extensions.http_status.toString()).toBe('403');
    expect(answer.body.data).toMatchObject({ viewer: { authMethod: 'api_key' }, datasourceGrants: null });
    expect(answer.body.data.workspaces.totalCount.toString()).toBe('1');
  });

  it('refuse a key what only sessions or higher scopes may do', async () => {
    const create = await ask(
      reader,
      'mutation { createPipeline(input: { definitionJson: "{}" }) { pipeline { id } } }',
    );
    expect(codesOf(create)).toEqual(['auth.scope.insufficient']);
    const mint = await ask(reader, 'mutation { createApiKey(input: { name: "sibling" }) { secret } }');
    expect(codesOf(mint)).toEqual(['auth.session.required']);
  });

  it('answer null for what is absent and what is foreign, alike', async () => {
    const foreign = await data(
      admin,
      'mutation { createWorkspace(input: { name: "elsewhere" }) { workspace { id } } }',
    );
    expect(foreign.createWorkspace.workspace.id).toBeDefined();
    const answer = await data(
      reader,
      '{ a: workspace(name: "elsewhere") { id } b: workspace(name: "nowhere") { id } c: pipeline(id: "x") { id } d: execution(id: "x") { id } e: template(name: "x/y") { id } f: datasource(name: "x") { id } g: endpoint(path: "/x") { id } }',
    );
    expect(Object.values(answer)).toEqual([null, null, null, null, null, null, null]);
  });

  it('leave the answer of a mutation that committed when a later one fails', async () => {
    const answer = await ask(
      admin,
      'mutation { a: createWorkspace(input: { name: "first" }) { workspace { name } } b: createWorkspace(input: { name: "first" }) { workspace { name } } }',
    );
    expect(answer.body.data).toEqual({ a: { workspace: { name: 'first' } }, b: null });
    expect(codesOf(answer)).toEqual(['workspace.validation.duplicate_name']);
  });
});

describe('people', () => {
  it('reads the members of many workspaces in two statements, and shows addresses to administrators only', async () => {
    const query = (first: number): string =>
      `{ workspaces(first: ${first}) { nodes { name members { nodes { user { displayName email } } } invitations { totalCount } } } }`;
    await data(admin, query(1));
    const few = await server.statementsOf(() => data(admin, query(1)));
    const many = await server.statementsOf(() => data(admin, query(3)));
    expect(many.length).toBe(few.length);
    const own = await data(reader, query(5));
    expect(own.workspaces.nodes.map(({ name }: { name: string }) => name)).toEqual(['default']);
  });

  it('shows oneself with what one may do', async () => {
    const { viewer } = await data(
      admin,
      '{ viewer { user { email hasPassword memberships { workspace { name } admin } apiKeys(first: 1) { totalCount nodes { name kind scopes owner { displayName } workspace { name } } } } capabilities activeWorkspace { name members { nodes { user { email } admin } } } } sessions { isCurrent } }',
    );
    expect(viewer.user).toMatchObject({
      email: 'ops.lead@example.com',
      hasPassword: true,
      memberships: [{ workspace: { name: 'default' }, admin: true }],
    });
    expect(viewer.capabilities).toContain('SUPER_ADMIN');
    expect(viewer.activeWorkspace.members.nodes).toEqual([{ user: { email: 'ops.lead@example.com' }, admin: true }]);
    const key = await data(
      reader,
      '{ viewer { user { email failedLoginCount } apiKey { name } scopes isSuperAdmin } }',
    );
    expect(key.viewer).toMatchObject({
      user: { failedLoginCount: null },
      apiKey: { name: 'reader' },
      scopes: ['READ'],
      isSuperAdmin: false,
    });
  });

  it('invites, and takes the invitation back', async () => {
    const { addMember } = await data(
      admin,
      'mutation { addMember(input: { workspace: "default", email: "New@Example.com", author: true }) { membership { author } invitation { email author invitedBy { displayName } } } }',
    );
    expect(addMember).toMatchObject({ membership: null, invitation: { email: 'new@example.com', author: true } });
    await data(
      admin,
      'mutation { revokeInvitation(input: { workspace: "default", email: "new@example.com" }) { deletedId } }',
    );
    const last = await ask(
      admin,
      'mutation($id: ID!) { removeMember(input: { workspace: "default", userId: $id }) { deletedId } }',
      {
        id: (await data(admin, '{ viewer { user { id } } }')).viewer.user.id,
      },
    );
    expect(codesOf(last)).toEqual(['workspace.last_admin']);
  });

  it('shows a secret once', async () => {
    const { createApiKey } = await data(
      admin,
      'mutation { createApiKey(input: { name: "once", scopes: [READ, EXECUTE] }) { secret apiKey { id scopes } } }',
    );
    expect(createApiKey.apiKey.scopes).toEqual(['READ', 'EXECUTE']);
    const listed = await ask(admin, '{ apiKeys(all: true) { nodes { id name } } }');
    expect(listed.text).not.toContain(createApiKey.secret);
    await data(admin, 'mutation($id: ID!) { revokeApiKey(input: { id: $id }) { deletedId } }', {
      id: createApiKey.apiKey.id,
    });
    expect(
      await ask(ApiClient.withKey(server.baseUrl, createApiKey.secret), '{ viewer { authMethod } }'),
    ).toMatchObject({ status: 401 });
  });
});

const EVENTS = { Accept: 'text/event-stream' };

describe('subscriptions', () => {
  it.each(['executionUpdated { id }', 'contentChanged(templateName: "watched/lost.sql") { version }'])(
    'end with a result that says why when the right is lost, and not with a bare close: %s',
    async (field) => {
      const body = { id: 'watched/lost.sql', dialect: 'DUCKDB', display_name: 'T', description: '', body: 'SELECT 1' };
      if (field.startsWith('content')) await admin.data('POST', '/api/v1/templates', body);
      const created = await admin.data('POST', '/api/v1/auth/api-keys', { name: 'watcher', scopes: ['read'] });
      const watcher = ApiClient.withKey(server.baseUrl, created.key);
      const query = `subscription { ${field} }`;
      const open = await watcher.fetch(
        'POST',
        '/graphql/stream',
        { query },
        { headers: { Accept: 'text/event-stream' } },
      );
      await admin.data('DELETE', `/api/v1/auth/api-keys/${created.id}`);
      const frames = (await open.text()).split('\n\n').filter((frame) => frame.startsWith('event:'));
      expect(frames.slice(-2)).toEqual([
        expect.stringMatching(/^event: next\ndata: .*"auth\.api_key\.invalid"/),
        'event: complete\ndata:',
      ]);
    },
  );

  it('end when their session has idled out: an open stream is no request, and keeps nobody signed in', async () => {
    const body = { id: 'watched/idle.sql', dialect: 'DUCKDB', display_name: 'T', description: '', body: 'SELECT 1' };
    await admin.data('POST', '/api/v1/templates', body);
    const query = 'subscription { contentChanged(templateName: "watched/idle.sql") { version } }';
    const headers = { Accept: 'text/event-stream' };
    const watching = new ApiClient(server.baseUrl);
    await watching.login(ADMIN.email, `${ADMIN.password}-changed`);
    const open = await watching.fetch('POST', '/graphql/stream', { query }, { headers });
    expect(open.status).toBe(200);
    await server.test.database.execute(
      `UPDATE user_sessions SET last_seen_at = NOW() - INTERVAL '121 min'
       WHERE id = (SELECT id FROM user_sessions ORDER BY created_at DESC LIMIT 1)`,
    );
    await server.forgets();
    expect(
      (await open.text())
        .split('\n\n')
        .filter((frame) => frame.startsWith('event:'))
        .slice(-2),
    ).toEqual([expect.stringMatching(/^event: next\ndata: .*"auth\.session\.expired"/), 'event: complete\ndata:']);
  });

  it('refuse to watch content that is not there, foreign, or not named, with a result and an end', async () => {
    const { createTemplate } = await data(
      admin,
      `mutation { createTemplate(input: { name: "watched/t.sql", displayName: "T", description: "", dialect: DUCKDB, body: "SELECT 1" }) { template { id } } }`,
    );
    const nowhere = '00000000-0000-0000-0000-000000000000';
    const first = async (client: ApiClient, args: string) => {
      const query = `subscription { contentChanged${args} { version status bodyHash } }`;
      for await (const { data: told } of client.events('POST', '/graphql/stream', { query })) {
        return told.errors?.[0].extensions.code ?? told.data.contentChanged.status;
      }
      return 'nothing';
    };
    expect(await first(reader, `(templateName: "${createTemplate.template.id}")`)).toBe('DRAFT');
    expect(await first(reader, `(pipelineId: "${nowhere}")`)).toBe('pipeline.execution.not_found');
    await data(admin, 'mutation { createWorkspace(input: { name: "watchers" }) { workspace { id } } }');
    const elsewhere = admin.in('watchers');
    expect(await first(elsewhere, `(templateName: "${createTemplate.template.id}")`)).toBe('template.not_found');
    expect(await first(reader, '')).toBe('pipeline.execution.invalid_parameter_type');
    const both = `(pipelineId: "${nowhere}", templateName: "watched/t.sql")`;
    expect(await first(reader, both)).toBe('pipeline.execution.invalid_parameter_type');
  });

  it.each(['executionEvents', 'executionUpdated'])(
    'refuse with a result and an end, whenever they find out, so that clients do not reconnect: %s',
    async (field) => {
      const query = `subscription { ${field}(executionId: "00000000-0000-0000-0000-000000000000") { id } }`;
      const frames = await collect(admin.events('POST', '/graphql/stream', { query }));
      expect(frames.map(({ event }) => event)).toEqual(['next', 'complete']);
      expect(frames[0]?.data.errors[0].extensions.code).toBe('result.execution_not_found');
    },
  );

  it('are counted when they end: as errors where a refusal ended them, as successes where their reader left', async () => {
    const before = await counted();
    const refused = 'subscription { executionUpdated(executionId: "00000000-0000-0000-0000-000000000000") { id } }';
    await collect(admin.events('POST', '/graphql/stream', { query: refused }));
    expect(await grownSince(before)).toEqual([['subscription errors', 1]]);
    const leave = new AbortController();
    const query = 'subscription { executionUpdated { id } }';
    await admin.fetch('POST', '/graphql/stream', { query }, { headers: EVENTS, signal: leave.signal });
    leave.abort();
    await eventually('the end to be counted', async () => (await grownSince(before)).length === 2);
    expect(await grownSince(before)).toEqual([
      ['subscription errors', 1],
      ['subscription success', 1],
    ]);
  });

  it('are counted among the streams of a person', async () => {
    const query = 'subscription { executionUpdated { id } }';
    const leave = new AbortController();
    const open = await Promise.all(
      Array.from({ length: 51 }, () =>
        admin.fetch(
          'POST',
          '/graphql/stream',
          { query },
          { headers: { Accept: 'text/event-stream' }, signal: leave.signal },
        ),
      ),
    );
    expect(open.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 50 }, () => 200), 429]);
    const refused = open.find(({ status }) => status === 429)!;
    expect(await refused.json()).toMatchObject({
      errors: [{ extensions: { code: 'rate_limit.exceeded', details: { limit: 50, window: 'concurrent_streams' } } }],
    });
    leave.abort();
  });
});

it('logs no error of its own in all of this', () => {
  expect(server.errors).toEqual([]);
});

/** Operations so far, by what they were and how they ended. */
async function counted(): Promise<Map<string, number>> {
  const { values } = await register.getSingleMetric('datapipelines_graphql_operations_total')!.get();
  return new Map(values.map(({ labels, value }) => [`${labels['type']} ${labels['outcome']}`, value]));
}

async function grownSince(before: ReadonlyMap<string, number>): Promise<(readonly [string, number])[]> {
  const grown = [...(await counted())].map(([key, value]) => [key, value - (before.get(key) ?? 0)] as const);
  return grown.filter(([, by]) => by > 0).sort();
}
