import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { Deployment } from '../fixtures/deployment.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { RunScene } from '../fixtures/run-scene.js';

interface Run {
  execution_id: string;
}

describeWithProgram('redis-server', 'runs that are read later', (redis) => {
  let deployment: Deployment;
  let scene: RunScene;

  beforeAll(async () => {
    deployment = await Deployment.start({ redis });
    scene = await RunScene.build(deployment);
  }, 90_000);
  afterAll(async () => {
    await deployment?.stop();
    await scene?.drop();
  });

  it('walks the list by cursor to its end while new runs begin, without a repetition or a gap', async () => {
    const { author } = deployment;
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.unshift(await scene.launch(author, scene.quick));
    const list = (query: string) => author.data('GET', `/api/v1/executions?pipeline_id=${scene.quick}&${query}`);

    const first = await list('limit=2');
    const { offset, limit, total, has_more } = first.pagination;
    expect([Number(offset), Number(limit), Number(total), has_more]).toEqual([0, 2, 5, true]);
    const walked = first.items as Run[];
    let cursor = first.pagination.next_cursor as string | null;
    while (cursor !== null) {
      await scene.launch(author, scene.quick);
      const page = await list(`limit=2&after=${cursor}`);
      expect('offset' in page.pagination).toBe(false);
      walked.push(...(page.items as Run[]));
      cursor = page.pagination.next_cursor as string | null;
      expect(page.pagination.has_more).toBe(cursor !== null);
    }
    expect(walked.map(({ execution_id }) => execution_id)).toEqual(ids);

    const whole = await list('limit=200');
    expect([whole.pagination.has_more, whole.pagination.next_cursor]).toEqual([false, null]);
    const foreign = first.pagination.next_cursor as string;
    for (const [query, code] of [
      [`status=SUCCESS&after=${foreign}`, 'graphql.cursor_invalid'],
      ['after=nonsense', 'graphql.cursor_invalid'],
      [`pipeline_id=${scene.quick}&offset=0&after=${foreign}`, 'pipeline.execution.invalid_parameter_type'],
    ]) {
      const refused = await author.call('GET', `/api/v1/executions?${query}`);
      expect([refused.status, refused.body.error.code]).toEqual([400, code]);
    }
  });

  it('tells who called a slow endpoint where the rows will be and how long at least they are kept', async () => {
    const { author } = deployment;
    await author.data('POST', '/api/v1/endpoints', { path: '/slow', pipeline: 'run/sleeping', timeout_seconds: 1 });
    const { key } = await deployment.admin
      .in('default')
      .data('POST', '/api/v1/auth/api-keys', { name: 'slow', kind: 'endpoint', bindings: ['/slow'] });
    const caller = ApiClient.withKey(deployment.server.baseUrl, key);
    const asked = Date.now();
    const headers = { 'DP-Result-TTL-Seconds': '120' };
    const accepted = await caller.call('GET', '/api/x/slow?seconds=3', undefined, { headers });
    expect([accepted.status, accepted.headers.get('Retry-After')]).toEqual([202, '5']);
    const id = accepted.headers.get('DP-Execution-Id')!;
    expect(accepted.body).toEqual({
      execution_id: id,
      status_url: `/api/v1/executions/${id}`,
      result_url: `/api/v1/executions/${id}/result`,
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
    });
    expect(accepted.headers.get('Location')).toBe(accepted.body.status_url);
    const promised = Date.parse(accepted.body.expires_at as string);
    expect(promised).toBeGreaterThanOrEqual(asked + 120_000);
    expect(await scene.ended(id)).toBe('SUCCESS');
    const { expires_at } = await caller.data('GET', `/api/v1/executions/${id}/result`);
    expect(Date.parse(expires_at as string)).toBeGreaterThanOrEqual(promised);
  });
});
