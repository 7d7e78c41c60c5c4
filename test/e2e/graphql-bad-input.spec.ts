import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ApiClient, type Answer } from '../fixtures/api-client.js';
import { Deployment } from '../fixtures/deployment.js';
import { ask } from '../fixtures/graphql.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { BAD_INPUT, errorOf, expectRefusal } from '../fixtures/refusals.js';

const aliases = (count: number) => Array.from({ length: count }, (_, n) => `a${n}: pipelines { totalCount }`).join(' ');
const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);

/** Documents that would cost more than they look, and how each is refused before anything runs. */
const COSTLY: [label: string, query: string, code: string][] = [
  ['3,000 aliases', `{ ${aliases(3000)} }`, 'graphql.document_too_large'],
  ['3,000 short aliases', `{ ${Array.from({ length: 3000 }, (_, n) => `a${n}:viewer{id}`).join(' ')} }`, 'GRAPHQL_PARSE_FAILED'],
  ['100 aliases', `{ ${aliases(100)} }`, 'graphql.too_many_aliases'],
  ['aliases in a fragment, spread', `query { ...a ...b } fragment a on Query { ${aliases(10)} } fragment b on Query { b1: viewer { __typename } b2: viewer { __typename } b3: viewer { __typename } b4: viewer { __typename } b5: viewer { __typename } b6: viewer { __typename } }`, 'graphql.too_many_aliases'],
  ['a depth of 300', `{ pipelines { nodes ${nested(300, '{ executions { nodes ', '} }')} } }`, 'graphql.too_deep'],
  ['10,000 braces', `{ ${nested(10_000, 'a {', '}')} }`, 'GRAPHQL_PARSE_FAILED'],
  ['depth through fragments', `{ pipelines { nodes { ...f0 } } } ${Array.from({ length: 12 }, (_, n) => `fragment f${n} on Pipeline { executions { nodes { pipeline { ${n < 11 ? `...f${n + 1}` : 'id'} } } } }`).join(' ')}`, 'graphql.too_deep'],
  ['a fragment in itself', '{ viewer { ...v } } fragment v on Viewer { ...v }', 'GRAPHQL_VALIDATION_FAILED'],
  ['fragments in a circle', '{ viewer { ...v } } fragment v on Viewer { ...w } fragment w on Viewer { ...v }', 'GRAPHQL_VALIDATION_FAILED'],
  ['150 fragments in a mesh of circles', `{ viewer { ...m0 } } ${Array.from({ length: 150 }, (_, n) => `fragment m${n} on Viewer { ${Array.from({ length: 7 }, (_, k) => `...m${(n + k + 1) % 150}`).join(' ')} }`).join(' ')}`, 'GRAPHQL_VALIDATION_FAILED'],
  ['1,900 lists in one another', `{ pipeline(id: ${nested(1900, '[', ']')}) { id } }`, 'graphql.too_deep'],
  ['101 lists in one another', `{ pipeline(id: ${nested(101, '[', ']')}) { id } }`, 'graphql.too_deep'],
  ['fragments that double 30 times', `{ viewer { ...d0 } } ${Array.from({ length: 30 }, (_, n) => `fragment d${n} on Viewer { ${n < 29 ? `...d${n + 1} ...d${n + 1}` : '__typename'} }`).join(' ')}`, ''],
  ['pages of pages of pages', '{ pipelines(first: 200) { nodes { executions(first: 200) { nodes { children(first: 200) { nodes { id } } } } } } }', 'graphql.too_complex'],
  ['a page of 201', '{ pipelines(first: 201) { totalCount } }', 'graphql.pagination_invalid'],
  ['a page of -1', '{ pipelines(first: -1) { totalCount } }', 'graphql.pagination_invalid'],
  ['both ends of a page', '{ pipelines(first: 1, last: 1) { totalCount } }', 'graphql.pagination_invalid'],
  ['U+0000 in a literal', String.raw`{ pipeline(name: "a\u0000b") { id } }`, BAD_INPUT],
  ['U+0000 in a literal, spelled with braces', String.raw`{ pipeline(name: "\u{0}") { id } }`, BAD_INPUT],
  ['21 root fields', `{ ${'viewer { __typename } '.repeat(21)} }`, 'graphql.too_many_root_fields'],
  ['no document', ' ', BAD_INPUT],
  ['no GraphQL', 'SELECT 1', 'GRAPHQL_PARSE_FAILED'],
  ['an unknown field', '{ passwords }', 'GRAPHQL_VALIDATION_FAILED'],
  ['a number where JSON text belongs', 'mutation { createPipeline(input: { definitionJson: 12 }) { __typename } }', 'GRAPHQL_VALIDATION_FAILED'],
  ['a subscription at the wrong path', 'subscription { executionEvents(executionId: "x") { eventId } }', 'graphql.operation_not_allowed'],
]; // prettier-ignore

describeWithProgram('redis-server', 'bad input over GraphQL', (redis) => {
  let deployment: Deployment;
  let admin: ApiClient;
  let author: ApiClient;
  let nobody: ApiClient;

  beforeAll(async () => {
    deployment = await Deployment.start({ redis });
    admin = deployment.admin.in('default');
    author = deployment.author;
    nobody = new ApiClient(deployment.server.baseUrl);
  }, 90_000);

  afterAll(async () => {
    const health = await nobody.call('GET', '/health');
    const failures = deployment.server.output.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
    await deployment.stop();
    expect([health.status, failures]).toEqual([200, []]);
  });

  it.each(COSTLY)('judges %s before anything runs', async (label, query, code) => {
    const answer = await ask(author, query);
    if (code === '') return expect([label, answer.status]).toEqual([label, 200]);
    expect([label, answer.status, errorOf(answer)?.code, answer.body.data]).toEqual([label, 400, code, undefined]);
    expect(answer.text.length).toBeLessThan(20_000);
    expect(answer.text).not.toMatch(/node_modules|\bat .+:\d+:\d+/);
  });

  it('answers a body of unknown members in few words: each defect would quote the whole of it', async () => {
    const input = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, 'x'.repeat(20)]));
    const query = 'mutation ($i: CreateApiKeyInput!) { createApiKey(input: $i) { secret } }';
    const answer = await author.call('POST', '/graphql', { query, variables: { i: input } });
    expect([answer.status, errorOf(answer)?.code, answer.body.data]).toEqual([400, 'BAD_USER_INPUT', undefined]);
    expect(answer.text.length).toBeLessThan(20_000);
  });

  it('refuses what is no single operation in a JSON object', async () => {
    const bodies: [label: string, body: unknown, code: string][] = [
      ['a batch', [{ query: '{ __typename }' }], 'graphql.batching_disabled'],
      ['an empty batch', [], 'graphql.batching_disabled'],
      ['no query', {}, BAD_INPUT],
      ['a query that is a list', { query: ['{ __typename }'] }, BAD_INPUT],
      ['variables that are a text', { query: '{ __typename }', variables: '{}' }, BAD_INPUT],
      ['a name that is a number', { query: '{ __typename }', operationName: 1 }, BAD_INPUT],
    ];
    for (const [label, body, code] of bodies) {
      expectRefusal(label, await author.call('POST', '/graphql', body), 400, code);
    }
    const unnamed = await author.call('POST', '/graphql', { query: 'query a { __typename } query b { __typename }' });
    expect([unnamed.status, unnamed.body.data]).toEqual([400, undefined]);
  });

  it('takes JSON text as a text only, and scans it as a REST body', async () => {
    const query = 'query($d: JsonText!) { validatePipeline(definitionJson: $d) { valid } }';
    for (const value of [{}, 12, true, ['{}']]) {
      const answer = await ask(author, query, { d: value });
      expect([value, answer.status, errorOf(answer)?.code]).toEqual([value, 400, 'BAD_USER_INPUT']);
    }
    const texts: [text: string, reason: string][] = [
      ['{"a": 1, "a": 2}', 'duplicate_key'],
      ['{"a": ', 'malformed_json'],
      ['{"a": 1e131000}', 'too_many_digits'],
      [`${'['.repeat(20_000)}${']'.repeat(20_000)}`, 'too_deep'],
      ['{"a": "\\u0000"}', 'malformed_json'],
      ['{"a": "\\ud800"}', 'malformed_json'],
    ];
    for (const [text, reason] of texts) {
      const answer = await ask(author, query, { d: text });
      expect([reason, errorOf(answer)?.details.reason]).toEqual([reason, reason]);
    }
  });

  it('answers values no column can hold like rows that are absent', async () => {
    const queries = [
      '{ pipeline(id: "x") { id } }',
      '{ execution(id: "🙂") { id } }',
      '{ template(name: "../../x") { id } }',
      '{ endpoint(path: "/a/../b") { id } }',
    ];
    for (const query of queries) {
      const answer = await ask(author, query);
      const code = errorOf(answer)?.code;
      expect([query, answer.status < 500, code === 'internal']).toEqual([query, true, false]);
      expect([query, Object.values((answer.body.data ?? { none: null }) as object)]).toEqual([query, [null]]);
    }
    const foreignCursor = await ask(author, '{ pipelines(first: 1, after: "AAAA") { totalCount } }');
    expect(errorOf(foreignCursor)?.code).toBe('graphql.cursor_invalid');
    const run = 'mutation($id: ID!) { executePipeline(input: { id: $id, version: 2147483647 }) { __typename } }';
    expect(errorOf(await ask(author, run, { id: 'x' }))?.code).toBe('pipeline.execution.not_found');
  });

  it('keeps strangers, other verbs and forged posts out, introspection included', async () => {
    const introspection = '{ __schema { types { name } } }';
    expectRefusal('anonymous', await ask(nobody, introspection), 401, 'auth.api_key.missing');
    expectRefusal('anonymous', await ask(nobody, '{ __typename }'), 401, 'auth.api_key.missing');
    expect((await ask(author, introspection)).body.data.__schema.types.length).toBeGreaterThan(50);
    const forged = await ask(admin, '{ __typename }', {}, { 'DP-CSRF-Token': 'x' });
    expectRefusal('a query with a cookie', forged, 403, 'auth.csrf.invalid', { reason: 'mismatch' });
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH'] as const) {
      const answer = await author.call(method, '/graphql?query={__typename}'.replace('{', '%7B').replace('}', '%7D'));
      expect([method, answer.status, errorOf(answer)?.code]).toEqual([method, 405, 'request.method_not_allowed']);
      expect([method, answer.headers.get('Allow')]).toEqual([method, expect.stringContaining('POST')]);
    }
    const stream = await author.call('POST', '/graphql/stream', { query: '{ __typename }' });
    expectRefusal('a query at the stream', stream, 400, 'graphql.operation_not_allowed');
  });

  it('fails one root field without voiding its siblings, and says so in the same words as REST', async () => {
    const query = `mutation {
      lost: cancelExecution(input: { id: "01900000-0000-7000-8000-000000000000" }) { __typename }
      kept: updatePreferences(input: { themePreference: "dark" }) { __typename }
    }`;
    const answer: Answer = await ask(author, query);
    expect([answer.status, answer.body.data.lost, answer.body.data.kept.__typename]).toEqual([
      200,
      null,
      'UserPayload',
    ]);
    const rest = await author.call('DELETE', '/api/v1/executions/01900000-0000-7000-8000-000000000000');
    const { http_status, correlation_id: _id, ...told } = answer.body.errors[0].extensions;
    const { message: _message, ...same } = rest.body.error;
    expect([Number(http_status), told]).toEqual([rest.status, same]);
  });
});
