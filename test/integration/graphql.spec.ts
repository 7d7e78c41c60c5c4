import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ApiClient, collect, type Answer } from '../fixtures/api-client.js';
import { LocalServer } from '../fixtures/local-server.js';

const BIG = '9223372036854775807';
const HOSTILE = `x'; DROP TABLE t; -- "😀"`;

let server: LocalServer;
/** A super admin with every flag in `default`. */
let admin: ApiClient;
let reader: ApiClient;

beforeAll(async () => {
  server = await LocalServer.start();
  admin = (await server.admin()).in('default');
  const flags = { author: true, promoter: true, admin: true };
  await admin.data('POST', '/api/v1/workspaces/default/members', { email: 'ops.lead@example.com', ...flags });
  const key = await admin.data('POST', '/api/v1/auth/api-keys', { name: 'reader', scopes: ['read'] });
  reader = ApiClient.withKey(server.baseUrl, key.key);
  const file = new DatabaseSync(join(server.files, 'shop.sqlite'));
  file.exec(`CREATE TABLE t (id INTEGER, note TEXT); INSERT INTO t VALUES (${BIG}, 'a'), (1, 'b')`);
  file.close();
}, 90_000);

afterAll(async () => {
  await server?.stop();
});

function ask(client: ApiClient, query: string, variables?: object, headers?: Record<string, string>): Promise<Answer> {
  return client.call('POST', '/graphql', { query, variables }, { headers });
}

/** The data of an answer without errors. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers of every shape
async function data(client: ApiClient, query: string, variables?: object): Promise<any> {
  const answer = await ask(client, query, variables);
  if (answer.status !== 200 || answer.body.errors) throw new Error(answer.text);
  return answer.body.data;
}

function codesOf(answer: Answer): string[] {
  return (answer.body.errors ?? []).map((error: { extensions: { code: string } }) => error.extensions.code);
}

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

  it('refuses 3,000 aliases by the number of tokens, and 16 by the number of aliases', async () => {
    const many = (count: number): string =>
      `{ ${Array.from({ length: count }, (_, index) => `a${index}: viewer { authMethod }`).join(' ')} }`;
    expect(codesOf(await ask(reader, many(3000)))).toEqual(['GRAPHQL_PARSE_FAILED']);
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

  it('answers in the media type that is asked for, and says what the operation cost', async () => {
    const answer = await ask(reader, '{ viewer { authMethod } }', {}, { Accept: 'application/graphql-response+json' });
    expect(answer.headers.get('Content-Type')).toBe('application/graphql-response+json; charset=utf-8');
    expect(answer.text).toBe(
      '{"data":{"viewer":{"authMethod":"api_key"}},"extensions":{"cost":{"requested":1,"max":1000}}}',
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

describe('the main job over GraphQL', () => {
  let pipelineId: string;
  let executionId: string;

  it('registers a datasource and reads its catalog', async () => {
    const jdbcUrl = `jdbc:sqlite:${join(server.files, 'shop.sqlite')}`;
    const { createDatasource } = await data(
      admin,
      `mutation($input: CreateDatasourceInput!) { createDatasource(input: $input) { datasource { id dialect credentialKind passwordSet createdBy { displayName } ownerWorkspace { name } } } }`,
      { input: { name: 'shop', displayName: 'Shop', dialect: 'SQLITE', jdbcUrl, credential: { kind: 'NONE' } } },
    );
    expect(createDatasource.datasource).toMatchObject({
      id: 'shop',
      dialect: 'SQLITE',
      credentialKind: 'NONE',
      passwordSet: false,
    });
    await data(
      admin,
      'mutation { grantDatasource(input: { name: "shop", workspace: "default" }) { grants { workspace { name } } } }',
    );
    const { testDatasource } = await data(
      admin,
      'mutation { testDatasource(input: { name: "shop" }) { connected datasource { lastTest { ok } } } }',
    );
    expect(testDatasource).toEqual({ connected: true, datasource: { lastTest: { ok: true } } });
    const { datasourceColumns } = await data(admin, '{ datasourceColumns(name: "shop", table: "t") { name type } }');
    expect(datasourceColumns.map(({ name }: { name: string }) => name)).toEqual(['id', 'note']);
  });

  it('writes, releases and reads a template', async () => {
    const { createTemplate } = await data(
      admin,
      `mutation($body: String!) { createTemplate(input: { name: "shop/notes.sql", dialect: SQLITE, body: $body }) { template { id working { number status bodyHash body } current { number } } } }`,
      { body: 'SELECT id, :note AS note, :big AS big FROM t WHERE id = :big' },
    );
    const { working, current } = createTemplate.template;
    expect([working.status, current]).toEqual(['DRAFT', null]);
    const stale = await ask(
      admin,
      'mutation { releaseTemplate(input: { name: "shop/notes.sql", expectedHash: "00" }) { template { id } } }',
    );
    expect(codesOf(stale)).toEqual(['template.version.conflict']);
    expect(stale.body.errors[0].extensions.details.current_body_hash).toBe(working.bodyHash);
    const { releaseTemplate } = await data(
      admin,
      'mutation($hash: String!) { releaseTemplate(input: { name: "shop/notes.sql", expectedHash: $hash }) { template { status current { number status releasedBy { email } isCurrent } draft { number } } } }',
      { hash: working.bodyHash },
    );
    expect(releaseTemplate.template).toMatchObject({
      status: 'ACTIVE',
      draft: null,
      current: { status: 'RELEASED', isCurrent: true },
    });
    const { renderTemplate } = await data(
      admin,
      '{ renderTemplate(name: "shop/notes.sql", contextJson: "{\\"note\\": \\"n\\", \\"big\\": 1}", mode: "bound") }',
    );
    expect(renderTemplate.binds.map(({ name }: { name: string }) => name)).toEqual(['note', 'big']);
  });

  it('reports every defect of a definition at once', async () => {
    const { validatePipeline } = await data(
      admin,
      'query($d: JsonText!) { validatePipeline(definitionJson: $d) { valid failures { code path } } }',
      {
        d: '{"schema_version": 1, "name": "shop/bad", "display_name": "", "nodes": []}',
      },
    );
    expect(validatePipeline.valid).toBe(false);
    expect(validatePipeline.failures.length).toBeGreaterThan(0);
    const broken = await ask(admin, '{ validatePipeline(definitionJson: "{,}") { valid } }');
    expect(broken.body.errors[0].extensions).toMatchObject({
      code: 'pipeline.execution.invalid_parameter_type',
      details: { field: 'definitionJson', reason: 'malformed_json' },
    });
  });

  it('keeps the spelling of numbers in a definition', async () => {
    const definition = `{"schema_version":1,"name":"shop/notes","display_name":"Notes","description":"",
      "parameters":{"note":{"type":"STRING","required":true},"big":{"type":"BIGINTEGER","required":false,"default":${BIG}}},
      "nodes":[{"id":"read","type":"DQL","source":"shop","template":{"id":"shop/notes.sql","version":1},"output":{"target":"caller"}}]}`;
    const created = await data(
      admin,
      'mutation($d: JsonText!) { createPipeline(input: { definitionJson: $d }) { pipeline { id working { bodyHash definitionJson parameters { name type required defaultJson } nodes { id type source template { name version } dependsOn } pinnedTemplates { id } } } } }',
      { d: definition },
    );
    const { id, working } = created.createPipeline.pipeline;
    pipelineId = id;
    expect(working.definitionJson).toContain(`"default":${BIG}`);
    expect(working.parameters).toMatchObject([
      { name: 'note', required: true },
      { name: 'big', type: 'BIGINTEGER', defaultJson: BIG },
    ]);
    expect(working.nodes).toMatchObject([
      { id: 'read', type: 'DQL', source: 'shop', template: { name: 'shop/notes.sql' }, dependsOn: [] },
    ]);
    expect(working.pinnedTemplates).toEqual([{ id: 'shop/notes.sql@1' }]);
    const released = await data(
      admin,
      'mutation($id: ID!, $hash: String!) { releasePipeline(input: { id: $id, expectedHash: $hash }) { pipeline { currentVersion versions { totalCount nodes { number status } } } } }',
      { id, hash: working.bodyHash },
    );
    expect(released.releasePipeline.pipeline.versions.nodes).toMatchObject([{ status: 'RELEASED' }]);
  });

  it('runs it, and streams its events to the end over server-sent events', async () => {
    const { executePipeline } = await data(
      admin,
      'mutation($id: ID!, $p: JsonText) { executePipeline(input: { id: $id, parametersJson: $p }) { execution { id pipeline { name } triggeredVia parametersJson } } }',
      { id: pipelineId, p: `{"note": ${JSON.stringify(HOSTILE)}, "big": "${BIG}"}` },
    );
    executionId = executePipeline.execution.id;
    expect(executePipeline.execution).toMatchObject({ triggeredVia: 'UI', pipeline: { name: 'shop/notes' } });
    const query = 'subscription($id: ID!) { executionEvents(executionId: $id) { eventId type payload } }';
    const frames = await collect(admin.events('POST', '/graphql/stream', { query, variables: { id: executionId } }));
    expect(frames.at(-1)?.event).toBe('complete');
    const events = frames.slice(0, -1).map((frame) => frame.data.data.executionEvents);
    expect(events.map((event) => Number(event.eventId))).toEqual(events.map((_, index) => index + 1));
    expect([events[0].type, events.at(-1).type]).toEqual(['execution_started', 'data_ready']);
    const resumed = await collect(
      admin.events('POST', '/graphql/stream', {
        query: `subscription { executionEvents(executionId: "${executionId}", afterEventId: ${events.length - 1}) { eventId } }`,
      }),
    );
    expect(resumed.map(({ event }) => event)).toEqual(['next', 'complete']);
  });

  it('gives exact values back', async () => {
    const { execution } = await data(
      admin,
      'query($id: ID!) { execution(id: $id) { status isDraftRun durationMs resultRowCount resultExpiresAt nodeStats { nodeId status rowsOut } root { id } parent { id } children { totalCount } events(last: 1) { nodes { type } totalCount } result { schema { name type } rows rowCount totalRows hasMore } } }',
      { id: executionId },
    );
    expect(execution).toMatchObject({ status: 'SUCCESS', isDraftRun: false, parent: null, root: { id: executionId } });
    expect(execution.result.rows).toEqual([[BIG, HOSTILE, BIG]]);
    expect(execution.resultExpiresAt).toMatch(/Z$/);
    expect(execution.nodeStats).toMatchObject([{ nodeId: 'read', status: 'SUCCESS' }]);
    expect(execution.events.nodes).toEqual([{ type: 'data_ready' }]);
  });

  it('completes updates of a run with its end', async () => {
    const query = 'subscription($id: ID!) { executionUpdated(executionId: $id) { status } }';
    const frames = await collect(admin.events('POST', '/graphql/stream', { query, variables: { id: executionId } }));
    expect(frames.map(({ event, data: payload }) => [event, payload?.data?.executionUpdated?.status])).toEqual([
      ['next', 'SUCCESS'],
      ['complete', undefined],
    ]);
  });

  it('refuses on a stream as a result and an end, so that clients do not reconnect', async () => {
    const query = 'subscription { executionEvents(executionId: "00000000-0000-0000-0000-000000000000") { eventId } }';
    const frames = await collect(admin.events('POST', '/graphql/stream', { query }));
    expect(frames.map(({ event }) => event)).toEqual(['next', 'complete']);
    expect(frames[0]?.data.errors[0].extensions.code).toBe('result.execution_not_found');
    const plain = await admin.call(
      'POST',
      '/graphql/stream',
      { query: '{ viewer { authMethod } }' },
      { headers: { Accept: 'text/event-stream' } },
    );
    expect([plain.status, codesOf(plain)]).toEqual([400, ['graphql.operation_not_allowed']]);
    const wrong = await admin.call('POST', '/graphql/stream', { query }, { headers: { Accept: 'application/json' } });
    expect([wrong.status, codesOf(wrong)]).toEqual([406, ['request.not_acceptable']]);
  });

  it('publishes it, binds a key, and takes both back', async () => {
    const { publishEndpoint } = await data(
      admin,
      'mutation { publishEndpoint(input: { path: "/notes/{note}", pipeline: "shop/notes" }) { endpoint { path url pathVariables pipeline { id } bindings { keyId } } } }',
    );
    expect(publishEndpoint.endpoint).toMatchObject({
      path: '/notes/{note}',
      pathVariables: ['note'],
      pipeline: { id: pipelineId },
    });
    const bound = await data(
      admin,
      'mutation { bindEndpointKey(input: { pathPrefix: "/notes", apiKeyName: "serving" }) { binding { keyName } } }',
    );
    expect(bound.bindEndpointKey.binding.keyName).toBe('serving');
    const read = await data(
      admin,
      '{ endpoint(path: "/notes/{note}") { bindings { pathPrefix keyName } } pipeline(name: "shop/notes") { endpoints { path } } apiKeys { nodes { name bindings { pathPrefix } } } }',
    );
    expect(read.endpoint.bindings).toEqual([{ pathPrefix: '/notes', keyName: 'serving' }]);
    expect(read.pipeline.endpoints).toEqual([{ path: '/notes/{note}' }]);
    const gone = await data(
      admin,
      'mutation { unbindEndpointKey(input: { pathPrefix: "/notes", apiKeyName: "serving" }) { pathPrefix } unpublishEndpoint(input: { path: "/notes/{note}" }) { deletedId } }',
    );
    expect(gone.unpublishEndpoint.deletedId).toBeDefined();
  });
});

describe('pages', () => {
  const PARENTS = 50;
  const ALL = `{ pipelines(first: ${PARENTS}, filter: { q: "many/" }) { totalCount pageInfo { hasNextPage } nodes {
    name owner { displayName } working { number createdBy { displayName } } current { number }
    lastExecution { status } endpoints { path } versions(first: 2) { nodes { number pinnedTemplates { id } } } executions(first: 3) { totalCount nodes { id } } } } }`;

  beforeAll(async () => {
    const [workspace] = await server.test.database.query<{ id: string }>(
      `SELECT id FROM workspaces WHERE name = 'default'`,
    );
    await server.test.database.execute(
      `WITH owner AS (SELECT id FROM users ORDER BY created_at LIMIT 1),
            p AS (INSERT INTO pipelines (workspace_id, name, display_name, description, owner_id, current_version)
                  SELECT $1, 'many/p' || lpad(i::text, 3, '0'), 'P', '', owner.id, 1 FROM generate_series(1, $2::int) i, owner
                  RETURNING id, owner_id)
       INSERT INTO pipeline_versions (pipeline_id, version, body_json, status, body_hash, created_via, updated_via, created_by, released_at, released_by)
       SELECT p.id, 1, '{"nodes": [{"id": "n", "type": "DQL", "template": {"id": "shop/notes.sql", "version": 1}}]}', 'RELEASED', 'h', 'session', 'session', p.owner_id, NOW(), p.owner_id FROM p`,
      [workspace?.id, PARENTS + 3],
    );
  });

  it('cost the same number of statements for one parent and for fifty', async () => {
    const one = ALL.replace(`first: ${PARENTS}`, 'first: 1');
    await data(admin, one);
    const few = await server.statementsOf(() => data(admin, one));
    const many = await server.statementsOf(() => data(admin, ALL));
    expect(many.length).toBe(few.length);
    // Owner, working and current, last execution, endpoints, versions, bodies, templates, executions, their count.
    expect(many.length).toBeLessThanOrEqual(3 + 9);
  });

  it('walk a list forwards and backwards without a gap or a repeat, whatever is inserted meanwhile', async () => {
    const page =
      'query($first: Int, $after: String, $last: Int, $before: String) { pipelines(first: $first, after: $after, last: $last, before: $before, filter: { q: "many/" }) { pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nodes { name } } }';
    const names: string[] = [];
    let after: string | null = null;
    do {
      const { pipelines } = await data(admin, page, { first: 20, after });
      names.push(...pipelines.nodes.map(({ name }: { name: string }) => name));
      after = pipelines.pageInfo.hasNextPage ? pipelines.pageInfo.endCursor : null;
      if (names.length === 20) {
        await server.test.database.execute(
          `INSERT INTO pipelines (workspace_id, name, display_name, description, owner_id) SELECT workspace_id, 'many/a', 'P', '', owner_id FROM pipelines WHERE name = 'many/p001'`,
        );
      }
    } while (after !== null);
    expect(names).toEqual(
      Array.from({ length: PARENTS + 3 }, (_, index) => `many/p${String(index + 1).padStart(3, '0')}`),
    );
    const back = await data(admin, page, { last: 2 });
    expect(back.pipelines.nodes.map(({ name }: { name: string }) => name)).toEqual(['many/p052', 'many/p053']);
    expect(back.pipelines.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const before = await data(admin, page, { last: 2, before: back.pipelines.pageInfo.startCursor });
    expect(before.pipelines.nodes.map(({ name }: { name: string }) => name)).toEqual(['many/p050', 'many/p051']);
    expect((await data(admin, page, { first: 0 })).pipelines.nodes).toEqual([]);
  });

  it('refuse a cursor of another filter', async () => {
    const { pipelines } = await data(admin, '{ pipelines(first: 1) { pageInfo { endCursor } } }');
    const answer = await ask(
      admin,
      'query($c: String) { pipelines(first: 1, after: $c, filter: { q: "many" }) { nodes { id } } }',
      { c: pipelines.pageInfo.endCursor },
    );
    expect(codesOf(answer)).toEqual(['graphql.cursor_invalid']);
  });

  it('show one level of the tree of names', async () => {
    const { pipelineTree } = await data(
      admin,
      '{ pipelineTree(prefix: "") { folders { path count } pipelines { totalCount } } }',
    );
    expect(pipelineTree.folders.map(({ path }: { path: string }) => path)).toEqual(['many', 'shop']);
    expect(
      (await data(admin, '{ pipelineTree(prefix: "many", first: 2) { pipelines { totalCount nodes { name } } } }'))
        .pipelineTree.pipelines.nodes,
    ).toEqual([{ name: 'many/p001' }, { name: 'many/p002' }]);
  });
});

describe('people', () => {
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

it('logs no error of its own in all of this', () => {
  expect(server.errors).toEqual([]);
});
