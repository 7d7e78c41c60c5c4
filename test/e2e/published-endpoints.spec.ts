import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ApiClient, type Answer } from '../fixtures/api-client.js';
import { releasedPipeline, releasedTemplate } from '../fixtures/authoring.js';
import { Deployment } from '../fixtures/deployment.js';
import { eventually } from '../fixtures/eventually.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { ask } from '../fixtures/sql.js';

const documentOf = (name: string, template: string, parameters: object = {}) => ({
  name,
  parameters,
  nodes: [
    {
      id: 'read',
      type: 'DQL',
      source: 'tempdb',
      template: { id: template, version: 1 },
      output: { target: 'caller' },
    },
  ],
});

describeWithProgram('redis-server', 'published endpoints on two servers', (redis) => {
  let deployment: Deployment;
  let clients: ApiClient[];
  let served: string;

  beforeAll(async () => {
    deployment = await Deployment.start({ redis, servers: 2 });
    const { author, servers } = deployment;
    clients = servers.map(({ baseUrl }) => author.on(baseUrl));
    await releasedTemplate(author, { id: 'serve/one.sql', dialect: 'DUCKDB', body: 'SELECT 1 AS version' });
    await releasedTemplate(author, {
      id: 'serve/two.sql',
      dialect: 'DUCKDB',
      body: 'SELECT 2 AS version, :city AS city',
    });
    await releasedTemplate(author, {
      id: 'serve/slow.sql',
      dialect: 'DUCKDB',
      body: 'SELECT sum(a.range * b.range) AS s FROM range(10000000) a, range(100000) b',
    });
    served = await releasedPipeline(author, documentOf('serve/rows', 'serve/one.sql'));
    await author.data('POST', '/api/v1/endpoints', { path: '/rows', pipeline: 'serve/rows' });
  }, 90_000);

  afterAll(() => deployment?.stop());

  const versionOf = ({ status, body }: Answer) => [status, status === 200 ? Number(body.rows[0][0]) : body.error.code];
  const everywhere = (path: string) =>
    Promise.all(clients.map(async (client) => versionOf(await client.call('GET', path))));
  const switchTo = (version: number, client = deployment.admin) =>
    client.data('POST', `/api/v1/pipelines/${served}/current`, { version });

  it('let one of many that publish clashing paths at once win, whichever server they ask', async () => {
    const paths = ['/clash/{a}/x', '/clash/b/{c}', '/clash/{d}/{e}', '/clash/b/x'];
    const text = { type: 'STRING', required: false, default: 'x' };
    const parameters = Object.fromEntries(['a', 'c', 'd', 'e'].map((name) => [name, text]));
    await releasedPipeline(deployment.author, documentOf('serve/parametrised', 'serve/one.sql', parameters));
    for (let round = 0; round < 3; round++) {
      const published = await Promise.all(
        paths.map((path, at) =>
          clients[at % 2]!.call('POST', '/api/v1/endpoints', { path, pipeline: 'serve/parametrised' }),
        ),
      );
      const [won, ...lost] = published.sort((a, b) => a.status - b.status);
      expect(won!.status).toBe(201);
      expect(lost.map(({ status, body }) => [status, body.error.code, body.error.details.conflicting_path])).toEqual(
        lost.map(() => [409, 'endpoint.path_conflict', won!.body.data.path]),
      );
      const path = encodeURIComponent(won!.body.data.path as string);
      expect((await clients[round % 2]!.call('DELETE', `/api/v1/endpoints?path=${path}`)).status).toBe(204);
    }
  });

  it('answer with the version the pointer names at the very next call, on every server', async () => {
    expect(await everywhere('/api/x/rows')).toEqual([
      [200, 1],
      [200, 1],
    ]);
    const { body_hash } = await deployment.author.data('GET', `/api/v1/pipelines/${served}`);
    const document = {
      display_name: 'Rows',
      description: '',
      ...documentOf('serve/rows', 'serve/two.sql', { city: { type: 'STRING', required: true } }),
    };
    const draft = await deployment.author.data('PUT', `/api/v1/pipelines/${served}`, document, {
      headers: { 'If-Match': body_hash },
    });
    // A draft changes nothing for those who call, unless the pointer is made to name it, as it may be where one develops.
    expect(await everywhere('/api/x/rows')).toEqual([
      [200, 1],
      [200, 1],
    ]);
    await switchTo(2);
    expect(await everywhere('/api/x/rows?city=Ulm')).toEqual([
      [200, 2],
      [200, 2],
    ]);
    await switchTo(1);
    await deployment.author.data('POST', `/api/v1/pipelines/${served}/release`, undefined, {
      headers: { 'If-Match': draft.body_hash },
    });
    // The new version's parameters are judged at once: neither is the old one served, nor a call refused by its rules.
    expect(await everywhere('/api/x/rows?city=Ulm')).toEqual([
      [200, 2],
      [200, 2],
    ]);
    expect(await everywhere('/api/x/rows')).toEqual([
      [400, 'endpoint.request.invalid'],
      [400, 'endpoint.request.invalid'],
    ]);
    await switchTo(1);
    expect(await everywhere('/api/x/rows')).toEqual([
      [200, 1],
      [200, 1],
    ]);
    await switchTo(2);
    expect(await everywhere('/api/x/rows?city=Ulm')).toEqual([
      [200, 2],
      [200, 2],
    ]);
    await switchTo(1);
  });

  it('prove at each call that what is served reads only, whatever became of a stored body', async () => {
    expect(await everywhere('/api/x/rows')).toEqual([
      [200, 1],
      [200, 1],
    ]);
    const store = (body: string, hash: string) =>
      ask(
        deployment.database.superuserUrl,
        'UPDATE pipeline_versions SET body_json = $2::jsonb, body_hash = $3 WHERE pipeline_id = $1 AND version = 1',
        [served, body, hash],
      );
    const [kept] = await ask<{ body: string; hash: string }>(
      deployment.database.superuserUrl,
      'SELECT body_json::text AS body, body_hash AS hash FROM pipeline_versions WHERE pipeline_id = $1 AND version = 1',
      [served],
    );
    const { body, hash } = kept!;
    await store(body.replace('"DQL"', '"DML"'), 'another');
    expect(await everywhere('/api/x/rows')).toEqual([
      [503, 'endpoint.pipeline_not_readonly'],
      [503, 'endpoint.pipeline_not_readonly'],
    ]);
    await store(body, hash);
    expect(await everywhere('/api/x/rows')).toEqual([
      [200, 1],
      [200, 1],
    ]);
  });

  it('forget a binding and a key on every server, however warm the key is there', async () => {
    const { admin } = deployment;
    const { id, key } = await admin
      .in('default')
      .data('POST', '/api/v1/auth/api-keys', { name: 'partner', kind: 'endpoint', bindings: ['/rows'] });
    const partner = clients.map(({ baseUrl }) => ApiClient.withKey(baseUrl, key));
    const answers = () =>
      Promise.all(partner.map(async (client) => versionOf(await client.call('GET', '/api/x/rows')).at(-1)));
    // Less than what a server believes without being told: half a minute of bindings, a minute of keys.
    const TOLD_MS = 10_000;
    const settle = (expected: unknown[]) =>
      eventually(String(expected), async () => String(await answers()) === String(expected), TOLD_MS);
    expect(await answers()).toEqual([1, 1]);
    const address = `path_prefix=%2Frows&api_key_id=${id}`;
    expect((await admin.in('default').call('DELETE', `/api/v1/endpoints/bindings?${address}`)).status).toBe(204);
    expect(versionOf(await partner[0]!.call('GET', '/api/x/rows'))).toEqual([403, 'endpoint.key_kind_refused']);
    await settle(['endpoint.key_kind_refused', 'endpoint.key_kind_refused']);
    // Nothing is bound there any more: the author's key is let in again on both.
    expect(await everywhere('/api/x/rows')).toEqual([
      [200, 1],
      [200, 1],
    ]);
    await admin.in('default').data('POST', '/api/v1/endpoints/bindings', { path_prefix: '/', api_key_id: id });
    await settle([1, 1]);
    await admin.on(clients[1]!.baseUrl).call('DELETE', `/api/v1/auth/api-keys/${id}`);
    await settle(['auth.api_key.invalid', 'auth.api_key.invalid']);
    // The row of the revoked key still decides.
    expect(await everywhere('/api/x/rows')).toEqual([
      [403, 'endpoint.key_not_bound'],
      [403, 'endpoint.key_not_bound'],
    ]);
    const root = `path_prefix=%2F&api_key_id=${id}`;
    await admin.in('default').call('DELETE', `/api/v1/endpoints/bindings?${root}`);
    await eventually('the tree is open again', async () =>
      (await everywhere('/api/x/rows')).every(([status]) => status === 200),
    );
  });

  it('tell every defect of a call at once', async () => {
    await switchTo(2);
    const answer = await clients[1]!.call('GET', `/api/x/rows?town=Ulm&nation=DE&city=a&city=b`);
    expect(answer.status).toBe(400);
    const told = answer.body.error.details.errors.map(({ parameter, code }: Record<string, string>) => [
      parameter,
      code,
    ]);
    expect(told.sort()).toEqual([
      ['city', 'endpoint.request.parameter_repeated'],
      ['nation', 'endpoint.request.parameter_unknown'],
      ['town', 'endpoint.request.parameter_unknown'],
    ]);
    await switchTo(1);
  });

  it('answer 202 when their time is over, with a run that goes on and says so itself', async () => {
    await releasedPipeline(deployment.author, documentOf('serve/slow', 'serve/slow.sql'));
    await deployment.author.data('POST', '/api/v1/endpoints', {
      path: '/slow',
      pipeline: 'serve/slow',
      timeout_seconds: 1,
    });
    const answer = await clients[0]!.call('GET', '/api/x/slow');
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([202, '5']);
    const { execution_id: id, status_url: status, result_url: result } = answer.body as Record<string, string>;
    expect([answer.headers.get('Location'), result]).toEqual([status, `${status}/result`]);
    const run = await clients[1]!.data('GET', `/api/v1/executions/${id}`);
    expect([run.status, run.triggered_via]).toEqual(['RUNNING', 'ENDPOINT']);
    expect((await clients[1]!.call('DELETE', `/api/v1/executions/${id}`)).status).toBe(204);
    const rows = await ask<{ outcome: string }>(
      deployment.database.superuserUrl,
      `SELECT details_json->>'outcome' AS outcome FROM audit_log WHERE event = 'endpoint.served' AND details_json->>'execution_id' = $1 ORDER BY id`,
      [id],
    );
    expect(rows.map(({ outcome }) => outcome)).toEqual(['started', 'accepted']);
  });
});
