import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient } from '../fixtures/api-client.js';
import { LocalServer } from '../fixtures/local-server.js';

const VIEWER = '{ viewer { isSuperAdmin } }';
const OTHER = '{ viewer { scopes } }';
const FOLLOWED = 'subscription { executionUpdated(executionId: "00000000-0000-0000-0000-000000000000") { id } }';
const STREAM = { headers: { Accept: 'text/event-stream' } };

const persisted = (document: string) => ({
  persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(document).digest('hex') },
});

describe('a server that runs trusted documents only', () => {
  const files = mkdtempSync(join(tmpdir(), 'penstock-trusted-'));
  let server: LocalServer;
  let admin: ApiClient;

  beforeAll(async () => {
    const manifest = join(files, 'documents.json');
    writeFileSync(manifest, JSON.stringify({ 'sha1:as the build calls it': VIEWER, other: FOLLOWED }));
    server = await LocalServer.start({
      DATAPIPELINES_GRAPHQL_TRUSTED_DOCUMENTS: 'require',
      DATAPIPELINES_GRAPHQL_TRUSTED_DOCUMENTS_FILE: manifest,
      DATAPIPELINES_GRAPHQL_GRAPHIQL: 'false',
    });
    admin = (await server.admin()).in('default');
  }, 90_000);

  afterAll(async () => {
    await server?.stop();
    rmSync(files, { recursive: true, force: true });
  });

  it.each<[string, object]>([
    ['text', { query: VIEWER }],
    ['hash, without having been sent before', { extensions: persisted(VIEWER) }],
  ])('runs them by their %s', async (_by, body) => {
    const answer = await admin.call('POST', '/graphql', body);
    expect([answer.status, answer.body.data]).toEqual([200, { viewer: { isSuperAdmin: true } }]);
  });

  it('has no console where it is off, nor the wider policy that its page would need', async () => {
    for (const client of [admin, new ApiClient(server.baseUrl)]) {
      const answer = await client.call('GET', '/graphql', undefined, { headers: { Accept: 'text/html' } });
      expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'POST, OPTIONS']);
      expect(answer.headers.get('Content-Security-Policy')).not.toContain('unsafe-inline');
    }
  });

  it('opens their subscriptions', async () => {
    const answer = await admin.call('POST', '/graphql/stream', { extensions: persisted(FOLLOWED) }, STREAM);
    expect(answer.text).toContain('result.execution_not_found');
  });

  it.each<[string, string, object]>([
    ['a document that differs by a space', '/graphql', { query: `${VIEWER} ` }],
    ['a document of one’s own', '/graphql', { query: OTHER }],
    ['one that comes with its hash', '/graphql', { query: OTHER, extensions: persisted(OTHER) }],
    ['a hash of no trusted one', '/graphql', { extensions: persisted(OTHER) }],
    ['one under the hash of a trusted one', '/graphql', { query: OTHER, extensions: persisted(VIEWER) }],
    ['introspection', '/graphql', { query: '{ __schema { queryType { name } } }' }],
    ['a subscription of one’s own', '/graphql/stream', { query: 'subscription { executionUpdated { id } }' }],
  ])('refuses %s', async (_what, path, body) => {
    const answer = await admin.call('POST', path, body, path.endsWith('stream') ? STREAM : {});
    expect([answer.status, answer.body.errors[0].extensions.code]).toEqual([400, 'graphql.operation_not_allowed']);
  });
});
