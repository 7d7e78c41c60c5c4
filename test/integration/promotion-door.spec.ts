import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mintKey } from '#libs/identity';
import { ApiClient } from '../fixtures/api-client.js';
import { LocalServer } from '../fixtures/local-server.js';
import { rawExchange } from '../fixtures/raw-http.js';

const SHARED = 'given-to-both-deployments-0123456789';
const CORRELATION = '11111111-1111-4111-8111-111111111111';
const PUSH = '/api/v1/promotion/push';

let server: LocalServer;
let admin: ApiClient;

beforeAll(async () => {
  server = await LocalServer.start({
    DATAPIPELINES_DEPLOYMENT_PROMOTION_SERVER_KEY: SHARED,
    DATAPIPELINES_RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '1000',
  });
  admin = (await server.admin()).in('default');
}, 60_000);
afterAll(() => server?.stop());

interface Minted {
  key: string;
  id: string;
}

async function mint(body: object, client = admin): Promise<Minted> {
  const { key, id } = await client.data('POST', '/api/v1/auth/api-keys', { name: 'promotion', ...body });
  return { key, id };
}

/** The bytes of the answer, but for its moment and the budgets, which count down whoever asks. */
async function bytesOf(path: string, headers: Record<string, string>, method = 'GET'): Promise<string> {
  const lines = Object.entries({
    Host: new URL(server.baseUrl).host,
    Connection: 'close',
    'DP-Correlation-Id': CORRELATION,
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const answer = await rawExchange(server.baseUrl, `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return answer.replace(/^(Date|RateLimit-\w+): .*\r\n/gm, '');
}

const errorIn = (answer: string): string => (/"code":"([^"]+)"/.exec(answer) ?? [])[1] ?? 'none';

describe('the promotion receiver', () => {
  it('answers every failure with the same bytes, so that nobody learns which key is nearly right', async () => {
    const [live, revoked, expired, orphan, stranded] = await Promise.all([
      mint({ kind: 'server' }),
      mint({ kind: 'server' }),
      mint({ kind: 'server' }),
      mint({ kind: 'server' }),
      mint({ kind: 'server' }),
    ]);
    const user = await mint({ scopes: ['author'] });
    const endpoint = await mint({ kind: 'endpoint' });
    const { database } = server.test;
    await admin.data('DELETE', `/api/v1/auth/api-keys/${revoked!.id}`);
    await database.execute("UPDATE api_keys SET expires_at = NOW() - INTERVAL '1 minute' WHERE id = $1", [expired!.id]);
    await database.execute(
      `WITH gone AS (INSERT INTO users (email, display_name, provider, provider_subject, is_active)
         VALUES ('gone@example.org', 'Gone', 'local', 'gone@example.org', FALSE) RETURNING id)
       UPDATE api_keys SET user_id = (SELECT id FROM gone) WHERE id = $1`,
      [orphan!.id],
    );
    await database.execute(
      `WITH closed AS (INSERT INTO workspaces (name, display_name, deactivated_at)
         VALUES ('closed', 'Closed', NOW()) RETURNING id)
       UPDATE api_keys SET workspace_id = (SELECT id FROM closed) WHERE id = $1`,
      [stranded!.id],
    );
    await server.forgets();
    const failures: Record<string, Record<string, string>> = {
      missing: {},
      empty: { 'DP-Promotion-Key': '' },
      malformed: { 'DP-Promotion-Key': "' OR 1=1" },
      'nearly the shared value': { 'DP-Promotion-Key': SHARED.slice(0, -1) },
      unknown: { 'DP-Promotion-Key': mintKey().key },
      'a wrong secret': { 'DP-Promotion-Key': `${live!.id}.${'A'.repeat(48)}` },
      revoked: { 'DP-Promotion-Key': revoked!.key },
      expired: { 'DP-Promotion-Key': expired!.key },
      'a user key': { 'DP-Promotion-Key': user.key },
      'an endpoint key': { 'DP-Promotion-Key': endpoint.key },
      'an owner who left': { 'DP-Promotion-Key': orphan!.key },
      'a pin that is closed': { 'DP-Promotion-Key': stranded!.key },
      'the key under another name': { 'DP-API-Key': live!.key },
      'an author key under its own name': { 'DP-API-Key': user.key },
      'a bearer': { Authorization: `Bearer ${live!.key}` },
      'a workspace beside a wrong key': { 'DP-Promotion-Key': 'x', 'DP-Workspace': 'nowhere' },
    };
    const expected = await bytesOf(PUSH, {}, 'POST');
    expect([expected.slice(0, 12), errorIn(expected)]).toEqual(['HTTP/1.1 401', 'auth.promotion.key_invalid']);
    for (const [label, headers] of Object.entries(failures)) {
      for (const [method, path] of [['POST', PUSH], ['GET', '/api/v1/promotion/inventory'], ['GET', '/api/v1/promotion/nothing'], ['DELETE', '/api/v1/promotion/x'], ['GET', '/api/v1/promotion']] as const)
        expect([label, path, await bytesOf(path, headers, method)]).toEqual([label, path, expected]);
    }
  }); // prettier-ignore

  it('looks at no cookie: the browser of a super administrator is nobody there, and forges nothing', async () => {
    for (const [method, path] of [['GET', '/api/v1/promotion/inventory'], ['POST', PUSH]] as const) {
      const answer = await admin.call(method, path, method === 'POST' ? {} : undefined, {
        headers: { Origin: 'https://evil.example' },
      });
      expect([path, answer.status, answer.body.error.code]).toEqual([path, 401, 'auth.promotion.key_invalid']);
    }
  }); // prettier-ignore

  it('lets a server key and the shared value in, whatever else came with them', async () => {
    const { key } = await mint({ kind: 'server' });
    for (const promotionKey of [key, SHARED]) {
      const others: Record<string, string>[] = [{}, { 'DP-API-Key': 'dpk_wrong' }, { Cookie: 'dp_session=x' }];
      for (const beside of others) {
        const answer = await bytesOf('/api/v1/promotion/nothing', { 'DP-Promotion-Key': promotionKey, ...beside });
        expect(errorIn(answer)).toBe('request.not_found');
      }
    }
  });

  it('is the only place for its header, and a server key has no other', async () => {
    const { key } = await mint({ kind: 'server' });
    for (const path of ['/api/v1/pipelines', '/graphql', '/api/x/any', '/api/v1/promotions'])
      expect([path, errorIn(await bytesOf(path, { 'DP-Promotion-Key': key }, path === '/graphql' ? 'POST' : 'GET'))]).toEqual([path, 'auth.api_key.missing']);
    const client = ApiClient.withKey(server.baseUrl, key);
    for (const [method, path] of [['GET', '/api/v1/pipelines'], ['GET', '/api/v1/auth/me'], ['POST', '/graphql'], ['GET', '/api/x/any'], ['POST', '/mcp'], ['GET', '/api/v1/nothing']] as const) {
      const answer = await client.call(method, path, method === 'POST' ? {} : undefined);
      expect([path, answer.status]).toEqual([path, 403]);
      expect([path, answer.text]).toEqual([path, expect.stringContaining('server_key_off_surface')]);
    }
  }); // prettier-ignore

  it('spends the budget of strangers with every refusal, so that guessing is limited', async () => {
    const guess = async (headers: Record<string, string>) => {
      const { headers: answered } = await new ApiClient(server.baseUrl).call('GET', PUSH, undefined, { headers });
      return ['RateLimit-Limit', 'RateLimit-Remaining'].map((name) => Number(answered.get(name)));
    };
    const [limit, before = 0] = await guess({});
    expect(limit).toBe(1000);
    const [, after] = await guess({ 'DP-Promotion-Key': mintKey().key });
    // A minute may have ended between the two.
    expect([before - 1, 999]).toContain(after);
  });

  it('keeps what was presented out of the trail and the log', async () => {
    const { database } = server.test;
    const rows = await database.query<{ details: string }>(
      "SELECT details_json::text AS details FROM audit_log WHERE event = 'auth.promotion.rejected'",
    );
    expect(rows.length).toBeGreaterThan(10);
    for (const { details } of rows)
      expect(Object.keys(JSON.parse(details) as object).sort()).toEqual(['correlation_id', 'path', 'reason']);
    const told = JSON.stringify([rows, server.warnings, server.errors]);
    expect(told).not.toMatch(/given-to-both|dpk_[A-Z2-7]{12}\./);
    expect(server.errors).toEqual([]);
  });
});
