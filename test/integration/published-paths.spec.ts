import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiClient, collect, type Answer } from '../fixtures/api-client.js';
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

describe('what a caller may choose of a result', () => {
  const run = () => `/api/v1/pipelines/${pipeline}/execute`;
  const readyOf = async (headers: Record<string, string>) => {
    const frames = await collect(caller.events('POST', run(), {}, { headers }));
    return frames.find(({ event }) => event === 'data_ready')!.data;
  };
  const pageOf = ({ rows, row_count, total_rows, has_more }: Answer['body']) => [
    rows.length,
    ...[row_count, total_rows].map(Number),
    has_more,
  ];
  /** Asked for, and the rows that come: within one and the operator's most; what is no number counts as absent. */
  const PAGES: [asked: string | undefined, rows: number][] = [
    [undefined, 3], ['1', 1], ['2', 2], ['5', 5], ['99', 5], ['999999999', 5], ['99999999999999999999', 5], ['0', 1],
    ['-3', 3], ['many', 3], ['2.5', 3], ['', 3],
  ]; // prettier-ignore

  it('is the size of the page that comes with a run, by either door', async () => {
    await publish('/pages');
    for (const [asked, rows] of PAGES) {
      const headers: Record<string, string> = asked === undefined ? {} : { 'DP-Result-Page-Rows': asked };
      const served = await caller.call('GET', '/api/x/pages', undefined, { headers });
      expect([asked, ...pageOf(served.body)]).toEqual([asked, rows, rows, 8, true]);
      expect([asked, ...pageOf(await readyOf(headers))]).toEqual([asked, rows, rows, 8, true]);
    }
  });

  it('is the page of the cursor, within the bounds of the operator and of the rows there are', async () => {
    const { execution_id } = (await caller.call('GET', '/api/x/pages')).body;
    const pages: [query: string, offset: number, limit: number, rows: number][] = [
      ['', 0, 3, 3], ['?limit=99', 0, 5, 5], ['?limit=0', 0, 1, 1], ['?limit=-2', 0, 1, 1],
      ['?offset=-4&limit=2', 0, 2, 2], ['?offset=6&limit=5', 6, 5, 2], ['?offset=99', 99, 3, 0],
    ]; // prettier-ignore
    for (const [query, ...expected] of pages) {
      const page = await caller.data('GET', `/api/v1/executions/${execution_id}/result${query}`);
      expect([query, ...[page.offset, page.limit, page.row_count].map(Number)]).toEqual([query, ...expected]);
      expect([query, page.has_more]).toEqual([query, Number(page.offset) + Number(page.row_count) < 8]);
    }
  });

  it('is how long the result is kept, within the bounds of the operator', async () => {
    const kept: [asked: string | undefined, seconds: number][] = [
      [undefined, LIFETIMES.usual], ['1200', 1200], ['1', LIFETIMES.least], ['0', LIFETIMES.least],
      ['999999999', LIFETIMES.most], ['99999999999999999999', LIFETIMES.most],
      ['-1', LIFETIMES.usual], ['soon', LIFETIMES.usual],
    ]; // prettier-ignore
    for (const [asked, seconds] of kept) {
      const headers: Record<string, string> = asked === undefined ? {} : { 'DP-Result-TTL-Seconds': asked };
      const served = await caller.call('GET', '/api/x/pages', undefined, { headers });
      const runs = [served.body, await readyOf(headers)] as { execution_id: string; expires_at: string }[];
      for (const { execution_id: id, expires_at: expires } of runs) {
        const { completed_at: end, result_expires_at: told } = await caller.data('GET', `/api/v1/executions/${id}`);
        const lifetime = (Date.parse(expires) - Date.parse(end as string)) / 1000;
        expect([asked, Math.round(lifetime / 600) * 600, told]).toEqual([asked, seconds, expires]);
      }
    }
  });
});

describe('a download', () => {
  const ROWS = 20_000;

  it('whose rows expire midway breaks off: a short file must not look complete', async () => {
    const sql = `SELECT range AS n FROM range(${ROWS})`;
    const many = await oneNodePipeline(admin, { name: 'paths/many', source: 'tempdb', dialect: 'DUCKDB', sql });
    const { headers } = await caller.call('POST', `/api/v1/pipelines/${many}/execute`, {});
    const id = headers.get('DP-Execution-Id') as string;
    const file = `/api/v1/executions/${id}/result?format=csv`;
    expect((await caller.call('GET', file)).text.trimEnd().split('\r\n')).toHaveLength(ROWS + 1);

    const { transient } = server;
    const readChunks = transient.readChunks.bind(transient);
    let expired: () => void = () => undefined;
    const expiry = new Promise<void>((resolve) => (expired = resolve));
    transient.readChunks = async (execution, indexes, signal) => {
      if (indexes[0] !== 0) await expiry;
      return readChunks(execution, indexes, signal);
    };
    try {
      const { status, body } = await caller.fetch('GET', file);
      const reader = body!.getReader();
      const begin = new TextDecoder().decode((await reader.read()).value as Uint8Array);
      expect([status, begin.startsWith('n\r\n')]).toEqual([200, true]);
      await transient.discardResult(id);
      expired();
      const rest = async () => {
        while (!(await reader.read()).done);
      };
      await expect(rest()).rejects.toThrow();
    } finally {
      transient.readChunks = readChunks;
    }
    const late = await caller.call('GET', file);
    expect([late.status, late.body.error.code]).toEqual([410, 'result.expired']);
  });
});
