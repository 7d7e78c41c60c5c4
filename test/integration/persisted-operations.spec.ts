import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import type { Answer, ApiClient } from '../fixtures/api-client.js';
import { codesOf } from '../fixtures/graphql.js';
import { startGraphqlServer } from '../fixtures/graphql-server.js';
import type { LocalServer } from '../fixtures/local-server.js';

const VIEWER = '{ viewer { isSuperAdmin } }';
const NAMED = 'query Mine($n: Int) { apiKeys(first: $n) { nodes { name } } }';
const FOLLOWED = 'subscription { executionUpdated(executionId: "00000000-0000-0000-0000-000000000000") { id } }';

const hashOf = (document: string): string => createHash('sha256').update(document).digest('hex');
const persisted = (document: string, version = 1) => ({
  persistedQuery: { version, sha256Hash: hashOf(document) },
});
const post = (client: ApiClient, body: object): Promise<Answer> => client.call('POST', '/graphql', body);
const byHash = (client: ApiClient, document: string, more: object = {}): Promise<Answer> =>
  post(client, { extensions: persisted(document), ...more });

describe('persisted queries', () => {
  let server: LocalServer;
  let admin: ApiClient;
  let reader: ApiClient;

  beforeAll(async () => {
    ({ server, admin, reader } = await startGraphqlServer());
  }, 90_000);

  afterAll(async () => {
    await server?.stop();
    expect(server?.errors).toEqual([]);
  });

  it('are unknown until one is sent whole, then run by their hash, for everybody who may ask at all', async () => {
    const unknown = await byHash(reader, VIEWER);
    expect([unknown.status, unknown.body.errors[0].message, codesOf(unknown)]).toEqual([
      400,
      'PersistedQueryNotFound',
      ['PERSISTED_QUERY_NOT_FOUND'],
    ]);
    expect(unknown.body.data).toBeUndefined();
    const whole = await post(reader, { query: VIEWER, extensions: persisted(VIEWER) });
    expect(whole.body.data).toEqual({ viewer: { isSuperAdmin: false } });
    expect((await byHash(reader, VIEWER)).body.data).toEqual({ viewer: { isSuperAdmin: false } });
    // The document is shared; the rights are the caller's.
    expect((await byHash(admin, VIEWER)).body.data).toEqual({ viewer: { isSuperAdmin: true } });
  });

  it('take variables and operation names like any other operation, and are judged again with them', async () => {
    await post(reader, { query: NAMED, variables: { n: 1 }, extensions: persisted(NAMED) });
    const page = await byHash(reader, NAMED, { variables: { n: 1 }, operationName: 'Mine' });
    expect(page.body.data.apiKeys.nodes).toEqual([{ name: 'reader' }]);
    expect(codesOf(await byHash(reader, NAMED, { variables: { n: 5000 } }))).toEqual(['graphql.pagination_invalid']);
    expect(codesOf(await byHash(reader, NAMED, { operationName: 'Other' }))).toEqual(['OPERATION_RESOLUTION_FAILURE']);
  });

  it('refuse a document under the hash of another: the next caller would run what he never wrote', async () => {
    const forged = await post(reader, { query: '{ sessions { id } }', extensions: persisted('{ viewer { scopes } }') });
    expect([forged.status, forged.body.errors[0].extensions.details]).toEqual([
      400,
      { field: 'extensions.persistedQuery.sha256Hash', reason: 'field' },
    ]);
    expect(codesOf(await byHash(reader, '{ viewer { scopes } }'))).toEqual(['PERSISTED_QUERY_NOT_FOUND']);
  });

  it('keep nothing that was refused', async () => {
    const bad = '{ viewer { nothing } }';
    expect(codesOf(await post(reader, { query: bad, extensions: persisted(bad) }))).toEqual([
      'GRAPHQL_VALIDATION_FAILED',
    ]);
    expect(codesOf(await byHash(reader, bad))).toEqual(['PERSISTED_QUERY_NOT_FOUND']);
  });

  it.each<[string, unknown, string]>([
    [
      'another version',
      { persistedQuery: { version: 2, sha256Hash: hashOf(VIEWER) } },
      'extensions.persistedQuery.version',
    ],
    [
      'a hash in capitals',
      { persistedQuery: { version: 1, sha256Hash: 'A'.repeat(64) } },
      'extensions.persistedQuery.sha256Hash',
    ],
    [
      'a key of the store',
      { persistedQuery: { version: 1, sha256Hash: '../ws:last' } },
      'extensions.persistedQuery.sha256Hash',
    ],
    ['no object', { persistedQuery: 'x' }, 'extensions.persistedQuery.version'],
    ['nothing', {}, 'query'],
  ])('refuse %s and name the member', async (_what, extensions, field) => {
    const refused = await post(reader, { extensions });
    expect([refused.status, refused.body.errors[0].extensions.details]).toEqual([400, { field, reason: 'field' }]);
  });

  it('open subscriptions too, and keep the two doors apart', async () => {
    const headers = { Accept: 'text/event-stream' };
    const stream = (body: object) => reader.call('POST', '/graphql/stream', body, { headers });
    expect(codesOf(await stream({ extensions: persisted(FOLLOWED) }))).toEqual(['PERSISTED_QUERY_NOT_FOUND']);
    await stream({ query: FOLLOWED, extensions: persisted(FOLLOWED) });
    expect((await stream({ extensions: persisted(FOLLOWED) })).text).toContain('result.execution_not_found');
    const wrongDoor = await byHash(reader, FOLLOWED);
    expect(codesOf(wrongDoor)[0]).toBe('graphql.operation_not_allowed');
  });
});
