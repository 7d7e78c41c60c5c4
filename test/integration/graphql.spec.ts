import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiClient, collect } from '../fixtures/api-client.js';
import { ask, codesOf, data } from '../fixtures/graphql.js';
import { LocalServer } from '../fixtures/local-server.js';

let server: LocalServer;
/** A super admin with every flag in `default`. */
let admin: ApiClient;
let reader: ApiClient;

beforeAll(async () => {
  server = await LocalServer.start({ DATAPIPELINES_SSE_HEARTBEAT_INTERVAL_SECONDS: '1' });
  admin = (await server.admin()).in('default');
  const flags = { author: true, promoter: true, admin: true };
  await admin.data('POST', '/api/v1/workspaces/default/members', { email: 'ops.lead@example.com', ...flags });
  const key = await admin.data('POST', '/api/v1/auth/api-keys', { name: 'reader', scopes: ['read'] });
  reader = ApiClient.withKey(server.baseUrl, key.key);
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

  it('count the versions of many parents in one statement', async () => {
    const query = (first: number): string =>
      `{ pipelines(first: ${first}) { nodes { versions(first: 0) { totalCount } } } templates(first: ${first}) { nodes { versions(first: 0) { totalCount } } } }`;
    const counted = await data(admin, query(3));
    for (const { versions } of [...counted.pipelines.nodes, ...counted.templates.nodes]) {
      expect(Number(versions.totalCount)).toBeGreaterThan(0);
    }
    const few = await server.statementsOf(() => data(admin, query(1)));
    const many = await server.statementsOf(() => data(admin, query(20)));
    expect(many.length).toBe(few.length);
  });

  it('read the owners of many datasources in one statement, and leave no trace of visits nobody made', async () => {
    const names = ['own-a', 'own-b', 'own-c'];
    for (const name of names) {
      await data(admin, `mutation { createWorkspace(input: { name: "${name}" }) { workspace { id } } }`);
      await admin.data('POST', '/api/v1/datasources', {
        name,
        display_name: name,
        dialect: 'POSTGRES',
        jdbc_url: 'jdbc:postgresql://127.0.0.1:9/x',
        credential: { kind: 'password', username: 'u', secret: 'planted' },
        workspace: name,
      });
      await admin.data('POST', `/api/v1/datasources/${name}/grants/default`);
    }
    const query = (first: number): string =>
      `{ datasources(first: ${first}) { nodes { name ownerWorkspace { name } } } }`;
    const { datasources } = await data(admin, query(50));
    const owned = datasources.nodes.filter(({ name }: { name: string }) => names.includes(name));
    expect(owned.map(({ ownerWorkspace }: { ownerWorkspace: { name: string } }) => ownerWorkspace.name)).toEqual(names);
    const few = await server.statementsOf(() => data(admin, query(1)));
    const many = await server.statementsOf(() => data(admin, query(50)));
    expect(many.length).toBe(few.length);
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

  it.each(['CREATED_AT', 'UPDATED_AT', 'NAME'])(
    'keep an order over pages in both directions, equal stamps by name: %s',
    async (field) => {
      await server.test.database.execute(
        `UPDATE pipelines SET updated_at = TIMESTAMPTZ '2026-01-01Z' + right(name, 1)::int * INTERVAL '1 microsecond' WHERE name LIKE 'many/p%'`,
      );
      const query = (direction: string): string =>
        `query($first: Int, $after: String, $last: Int, $before: String) { pipelines(first: $first, after: $after, last: $last, before: $before, filter: { q: "many/p" }, orderBy: { field: ${field}, direction: ${direction} }) { pageInfo { hasNextPage hasPreviousPage startCursor endCursor } nodes { name } } }`;
      const walk = async (direction: string): Promise<string[]> => {
        const names: string[] = [];
        let after: string | null = null;
        do {
          const { pipelines } = await data(admin, query(direction), { first: 20, after });
          names.push(...pipelines.nodes.map(({ name }: { name: string }) => name));
          after = pipelines.pageInfo.hasNextPage ? pipelines.pageInfo.endCursor : null;
        } while (after !== null);
        return names;
      };
      const key = (name: string): string => (field === 'UPDATED_AT' ? `${name.at(-1)}${name}` : name);
      const ascending = Array.from({ length: PARENTS + 3 }, (_, at) => `many/p${String(at + 1).padStart(3, '0')}`).sort(
        (a, b) => (key(a) < key(b) ? -1 : 1),
      );
      expect(await walk('ASC')).toEqual(ascending);
      expect(await walk('DESC')).toEqual(ascending.toReversed());
      const end = (await data(admin, query('DESC'), { last: 2 })).pipelines;
      expect(end.nodes.map(({ name }: { name: string }) => name)).toEqual(ascending.slice(0, 2).reverse());
      const before = (await data(admin, query('DESC'), { last: 2, before: end.pageInfo.startCursor })).pipelines;
      expect(before.nodes.map(({ name }: { name: string }) => name)).toEqual(ascending.slice(2, 4).reverse());
      expect(codesOf(await ask(admin, query('ASC'), { first: 2, after: end.pageInfo.startCursor }))).toEqual([
        'graphql.cursor_invalid',
      ]);
    },
  );

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
    expect(pipelineTree.folders.map(({ path }: { path: string }) => path)).toEqual(['many']);
    expect(
      (await data(admin, '{ pipelineTree(prefix: "many", first: 2) { pipelines { totalCount nodes { name } } } }'))
        .pipelineTree.pipelines.nodes,
    ).toEqual([{ name: 'many/p001' }, { name: 'many/p002' }]);
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

describe('subscriptions', () => {
  it('end with a result that says why when the right is lost, and not with a bare close', async () => {
    const created = await admin.data('POST', '/api/v1/auth/api-keys', { name: 'watcher', scopes: ['read'] });
    const watcher = ApiClient.withKey(server.baseUrl, created.key);
    const query = 'subscription { executionUpdated { id } }';
    const open = await watcher.fetch(
      'POST',
      '/graphql/stream',
      { query },
      { headers: { Accept: 'text/event-stream' } },
    );
    await admin.data('DELETE', `/api/v1/auth/api-keys/${created.id}`);
    const frames = (await open.text()).split('\n\n').filter((frame) => frame.startsWith('event:'));
    expect(frames).toEqual([
      expect.stringMatching(/^event: next\ndata: .*"auth\.api_key\.invalid"/),
      'event: complete\ndata:',
    ]);
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
    leave.abort();
  });
});

it('logs no error of its own in all of this', () => {
  expect(server.errors).toEqual([]);
});
