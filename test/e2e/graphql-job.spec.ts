import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ApiClient, collect } from '../fixtures/api-client.js';
import { Deployment } from '../fixtures/deployment.js';
import { ask, codesOf, data } from '../fixtures/graphql.js';
import { describeWithProgram } from '../fixtures/programs.js';

const EXAMPLES = new URL('../../apps/graphiql/examples.js', import.meta.url);
const BIG = '9223372036854775807';
const HOSTILE = `x'; DROP TABLE t; -- "😀"`;

describeWithProgram('redis-server', 'the main job over GraphQL', (redis) => {
  let deployment: Deployment;
  let admin: ApiClient;
  let pipelineId: string;
  let executionId: string;

  beforeAll(async () => {
    deployment = await Deployment.start({ redis });
    admin = deployment.admin.in('default');
    const file = new DatabaseSync(join(deployment.files, 'shop.sqlite'));
    file.exec(`CREATE TABLE t (id BIGINT, note TEXT); INSERT INTO t VALUES (${BIG}, 'a'), (1, 'b')`);
    file.close();
    await admin.data('POST', '/api/v1/auth/api-keys', { name: 'serving', kind: 'endpoint' });
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
  });

  it('serves the console to people and sends strangers to sign in', async () => {
    const html = { Accept: 'text/html' };
    const page = await admin.call('GET', '/graphql', undefined, { headers: html });
    expect([page.status, page.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('Content-Security-Policy')).toContain("style-src 'self' 'unsafe-inline'");
    const script = /src="([^"]+)"/.exec(page.text)?.[1] ?? '';
    expect((await admin.call('GET', script)).status).toBe(200);
    const stranger = await new ApiClient(deployment.server.baseUrl).call('GET', '/graphql', undefined, {
      headers: html,
    });
    expect([stranger.status, stranger.headers.get('Location')]).toEqual([302, '/login?return_to=/graphql']);
  });

  it('registers a datasource and reads its catalog', async () => {
    const jdbcUrl = `jdbc:sqlite:${join(deployment.files, 'shop.sqlite')}`;
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
      `mutation($body: String!) { createTemplate(input: { name: "shop/notes.sql", displayName: "Notes", description: "", dialect: SQLITE, body: $body }) { template { id working { number status bodyHash body } current { number } } } }`,
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
      "parameters":{"note":{"type":"STRING","required":true},"big":{"type":"BIGINTEGER","required":false,"default":"${BIG}"},
        "rate":{"type":"DECIMAL","precision":5,"scale":2,"required":false,"default":1.50}},
      "nodes":[{"id":"read","type":"DQL","source":"shop","template":{"id":"shop/notes.sql","version":1},"output":{"target":"caller"}}]}`;
    const created = await data(
      admin,
      'mutation($d: JsonText!) { createPipeline(input: { definitionJson: $d }) { pipeline { id working { bodyHash definitionJson parameters { name type required defaultJson } nodes { id type source template { name version } dependsOn } pinnedTemplates { id } } } } }',
      { d: definition },
    );
    const { id, working } = created.createPipeline.pipeline;
    pipelineId = id;
    expect(working.definitionJson).toContain('"default":1.50');
    const parameters = new Map(working.parameters.map((each: { name: string }) => [each.name, each]));
    expect(parameters.get('note')).toMatchObject({ type: 'STRING', required: true, defaultJson: null });
    expect(parameters.get('big')).toMatchObject({ type: 'BIGINTEGER', defaultJson: `"${BIG}"` });
    expect(parameters.get('rate')).toMatchObject({ required: false, defaultJson: '1.50' });
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

  it('runs every saved example of the console with the ids of this workspace filled in', async () => {
    const filled = (variables: string): Record<string, string> => {
      const given = JSON.parse(variables) as Record<string, string>;
      return 'parameters' in given
        ? { id: pipelineId, parameters: `{"note": "x", "big": "${BIG}"}` }
        : { id: executionId };
    };
    const { examples } = (await import(EXAMPLES.href)) as { examples: { query: string; variables?: string }[] };
    for (const { query, variables = '{}' } of examples) {
      const operation = { query, variables: filled(variables) };
      if (/^subscription/m.test(query)) {
        const frames = await collect(admin.events('POST', '/graphql/stream', operation));
        expect([query, frames.filter(({ data: payload }) => payload?.errors !== undefined)]).toEqual([query, []]);
        expect(frames.length).toBeGreaterThan(1);
      } else {
        const answer = await ask(admin, query, operation.variables);
        expect([query, codesOf(answer)]).toEqual([query, []]);
        expect(Object.values(answer.body.data)).not.toContain(null);
      }
    }
    expect(examples.length).toBeGreaterThan(5);
  });

  it('lists runs from either end', async () => {
    const list = async (args: string): Promise<{ ids: string[]; next: boolean; cursor: string }> => {
      const { executions } = await data(
        admin,
        `{ executions(${args}) { pageInfo { hasNextPage endCursor } nodes { id } } }`,
      );
      const ids = executions.nodes.map(({ id }: { id: string }) => id);
      return { ids, next: executions.pageInfo.hasNextPage, cursor: executions.pageInfo.endCursor };
    };
    const newest = (await list('first: 50')).ids;
    expect(newest.length).toBeGreaterThan(1);
    const oldestFirst = 'orderBy: { field: STARTED_AT, direction: ASC }';
    expect((await list(oldestFirst)).ids).toEqual(newest.toReversed());
    const first = await list(`first: 1, ${oldestFirst}`);
    expect([first.ids, first.next]).toEqual([[executionId], true]);
    const rest = await list(`first: 50, after: "${first.cursor}", ${oldestFirst}`);
    expect([rest.ids, rest.next]).toEqual([newest.toReversed().slice(1), false]);
    expect((await list(`last: 1, ${oldestFirst}`)).ids).toEqual(newest.slice(0, 1));
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
