import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiClient, type Answer } from '../fixtures/api-client.js';
import { oneNodePipeline } from '../fixtures/authoring.js';
import { LocalServer } from '../fixtures/local-server.js';

/* What is published and what of it is answered: paths that are off, waits, pages and lifetimes (contract 03 §6, §7). */

const ENDPOINTS = '/api/v1/endpoints';
/** Seconds, far enough apart for the slowest machine. */
const LIFETIMES = { least: 600, usual: 3000, most: 6000 };

let server: LocalServer;
let admin: ApiClient;
let elsewhere: ApiClient;
/** Keys that may execute, in `default` and in `elsewhere`. */
let caller: ApiClient;
let foreigner: ApiClient;
let pipeline: string;
let theirs: string;

beforeAll(async () => {
  server = await LocalServer.start({
    DATAPIPELINES_TEMPLATES_RENDER_ISOLATION: 'inline',
    DATAPIPELINES_ENDPOINTS_TIMEOUT_MIN_SECONDS: '2',
    DATAPIPELINES_ENDPOINTS_TIMEOUT_DEFAULT_SECONDS: '5',
    DATAPIPELINES_ENDPOINTS_TIMEOUT_MAX_SECONDS: '9',
    DATAPIPELINES_RESULT_PAGE_SIZE_ROWS: '3',
    DATAPIPELINES_RESULT_PAGE_MAX_ROWS: '5',
    DATAPIPELINES_RESULT_TTL_MIN_SECONDS: String(LIFETIMES.least),
    DATAPIPELINES_RESULT_TTL_DEFAULT_SECONDS: String(LIFETIMES.usual),
    DATAPIPELINES_RESULT_TTL_MAX_SECONDS: String(LIFETIMES.most),
  });
  const browser = await server.admin();
  await browser.data('POST', '/api/v1/workspaces', { name: 'elsewhere', display_name: 'Elsewhere' });
  for (const workspace of ['default', 'elsewhere'])
    await browser.in(workspace).data('POST', `/api/v1/workspaces/${workspace}/members`, {
      ...{ email: 'ops.lead@example.com', author: true, promoter: true, admin: true },
    });
  [admin, elsewhere] = [browser.in('default'), browser.in('elsewhere')];
  [caller, foreigner] = [await executeKey(admin), await executeKey(elsewhere)];
  pipeline = await eightRows(admin);
  theirs = await eightRows(elsewhere);
}, 60_000);
afterAll(() => server?.stop());

async function executeKey(client: ApiClient): Promise<ApiClient> {
  const { key } = await client.data('POST', '/api/v1/auth/api-keys', { name: 'caller', scopes: ['execute'] });
  return ApiClient.withKey(server.baseUrl, key);
}

const eightRows = (client: ApiClient) =>
  oneNodePipeline(client, {
    ...{
      name: 'paths/rows',
      source: 'tempdb',
      dialect: 'DUCKDB',
      sql: 'SELECT range AS n, :city AS city FROM range(8)',
    },
    parameters: { city: { type: 'STRING', required: false, default: 'Ulm' } },
  });

const publish = (path: string, more: object = {}, client = admin, of = pipeline) =>
  client.call('POST', ENDPOINTS, { path, pipeline: of, ...more });
const at = (path: string) => `${ENDPOINTS}?path=${encodeURIComponent(path)}`;
const waitOf = ({ timeout_seconds }: { timeout_seconds: unknown }) => Number(timeout_seconds);
const refusalOf = ({ status, body }: Answer) => [status, { ...body, correlation_id: '' }];

describe('a path that is off', () => {
  it('answers as one that never was, whether disabled, foreign, or of a workspace that is deactivated', async () => {
    const unknown = refusalOf(await caller.call('GET', '/api/x/nowhere'));
    expect(unknown[0]).toBe(404);
    expect(unknown[1]).toMatchObject({ error: { code: 'endpoint.not_found' } });
    expect((await publish('/off', { enabled: false })).body.data).toMatchObject({ path: '/off', enabled: false });
    expect(refusalOf(await caller.call('GET', '/api/x/off'))).toEqual(unknown);
    expect((await admin.data('PUT', at('/off'), { enabled: true })).enabled).toBe(true);
    expect((await caller.call('GET', '/api/x/off')).status).toBe(200);
    await admin.data('PUT', at('/off'), { enabled: false });
    expect(refusalOf(await caller.call('GET', '/api/x/off'))).toEqual(unknown);

    expect((await publish('/theirs', {}, elsewhere, theirs)).status).toBe(201);
    expect((await foreigner.call('GET', '/api/x/theirs')).status).toBe(200);
    expect(refusalOf(await caller.call('GET', '/api/x/theirs'))).toEqual(unknown);
    await admin.data('POST', '/api/v1/workspaces/elsewhere/deactivate', {});
    for (const [key, path] of [[caller, '/theirs'], [foreigner, '/theirs'], [foreigner, '/nowhere']] as const)
      expect([path, ...refusalOf(await key.call('GET', `/api/x${path}`))]).toEqual([path, ...unknown]);
    await admin.data('POST', '/api/v1/workspaces/elsewhere/reactivate', {});
    expect((await foreigner.call('GET', '/api/x/theirs')).status).toBe(200);
  }); // prettier-ignore

  it('still holds its place: what clashes with it is refused, and named only to its own workspace', async () => {
    expect((await publish('/held/{city}', { enabled: false })).status).toBe(201);
    const conflictOf = async (attempt: Promise<Answer>) => {
      const { status, body } = await attempt;
      return [status, body.error.code, body.error.details.conflicting_path, body.error.message.includes('{city}')];
    };
    expect(await conflictOf(publish('/held/x'))).toEqual([409, 'endpoint.path_conflict', '/held/{city}', true]);
    expect(await conflictOf(publish('/held/{city}'))).toEqual([409, 'endpoint.path_conflict', '/held/{city}', true]);
    // Which paths others publish is nobody's business.
    for (const path of ['/held/x', '/held/{city}'])
      expect(await conflictOf(publish(path, {}, elsewhere, theirs))).toEqual([409, 'endpoint.path_conflict', null, false]);
    // Neither the pattern of another workspace's row can be read, changed or taken away.
    for (const [method, body] of [['GET', undefined], ['PUT', { enabled: true }], ['DELETE', undefined]] as const)
      expect([method, (await elsewhere.call(method, at('/held/{city}'), body)).status]).toEqual([method, 404]);
    expect((await admin.data('GET', at('/held/{city}'))).enabled).toBe(false);
  }); // prettier-ignore
});

describe('the wait of an endpoint', () => {
  it('is brought within the bounds of the operator when it is written', async () => {
    const waits: [path: string, asked: number | undefined, kept: number][] = [
      ['/wait/short', 1, 2],
      ['/wait/long', 3600, 9],
      ['/wait/fits', 7, 7],
      ['/wait/none', undefined, 5],
    ];
    for (const [path, asked, kept] of waits) {
      const { status, body } = await publish(path, asked === undefined ? {} : { timeout_seconds: asked });
      expect([path, status, waitOf(body.data)]).toEqual([path, 201, kept]);
    }
    expect(waitOf(await admin.data('PUT', at('/wait/fits'), { timeout_seconds: 600 }))).toBe(9);
    expect(waitOf(await admin.data('PUT', at('/wait/fits'), { timeout_seconds: 0 }))).toBe(2);
    expect(waitOf(await admin.data('PUT', at('/wait/fits'), { description: 'kept' }))).toBe(2);
  });

  it('outlives bounds that were moved: a row from before goes on serving, and keeps it while others things change', async () => {
    expect((await publish('/wait/old')).status).toBe(201);
    for (const seconds of [1, 3000]) {
      await server.test.database.execute('UPDATE published_endpoints SET timeout_seconds = $2 WHERE path_pattern = $1', ['/wait/old', seconds]);
      await server.forgets();
      expect((await caller.call('GET', '/api/x/wait/old')).status).toBe(200);
      const changed = await admin.data('PUT', at('/wait/old'), { description: `of ${seconds}` });
      expect(waitOf(changed)).toBe(seconds);
    }
  }); // prettier-ignore
});
