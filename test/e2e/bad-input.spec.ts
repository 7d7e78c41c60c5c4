import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { ApiClient, type Answer, type CallOptions } from '../fixtures/api-client.js';
import { oneNodePipeline, releasedPipeline, releasedTemplate } from '../fixtures/authoring.js';
import {
  badFields,
  badQueries,
  bodyDoors,
  BROKEN_JSON,
  idDoors,
  NO_IDS,
  NOWHERE,
  type Senders,
  type Targets,
} from '../fixtures/bad-input.js';
import { Deployment } from '../fixtures/deployment.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { BAD_INPUT, errorOf, expectEnvelope, expectRefusal } from '../fixtures/refusals.js';

describeWithProgram('redis-server', 'bad input at every door', (redis) => {
  let deployment: Deployment;
  let admin: ApiClient;
  let author: ApiClient;
  let stranger: ApiClient;
  let pipelineId: string;
  let executionId: string;
  let senders: Senders;
  let targets: Targets;

  beforeAll(async () => {
    deployment = await Deployment.start({
      redis,
      env: { DATAPIPELINES_RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '100000' },
    });
    admin = deployment.admin.in('default');
    author = deployment.author;
    stranger = new ApiClient(deployment.server.baseUrl);
    await stranger.call('GET', '/login');
    pipelineId = await oneNodePipeline(author, {
      name: 'bad/input/one', source: 'tempdb', dialect: 'DUCKDB', sql: 'SELECT 1 AS one',
    }); // prettier-ignore
    const run = await author.call('POST', `/api/v1/pipelines/${pipelineId}/execute`, {});
    executionId = run.headers.get('DP-Execution-Id') as string;
    senders = { admin, author, stranger };
    targets = { pipelineId, executionId };
  }, 90_000);

  afterAll(async () => {
    // Whatever was sent: the process lives, and never met a failure it did not expect.
    const health = await stranger.call('GET', '/health');
    const unexpected = deployment.server.output.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
    await deployment.stop();
    expect([health.status, unexpected]).toEqual([200, []]);
  });

  /** Asks every door that reads a body at once. */
  const everywhere = (ask: (label: string, client: ApiClient, method: string, path: string) => Promise<void>) =>
    Promise.all(bodyDoors(senders, targets).map((door) => ask(...door)));

  const send = (client: ApiClient, method: string, path: string, raw: string | Buffer, options: CallOptions = {}) =>
    client.call(method, path, undefined, { ...options, raw: raw as string });

  it.each(BROKEN_JSON)('refuses %s everywhere with one code and the reason', async (_name, body, reason) => {
    // One parser for all doors: a door with its own would be the one that rounds a number or takes the second key.
    await everywhere(async (label, client, method, path) => {
      const answer = await send(client, method, path, body, { headers: { Accept: '*/*', 'If-Match': 'a'.repeat(64) } });
      expectRefusal(`${label}: ${reason}`, answer, 400, BAD_INPUT, { reason });
    });
  });

  it('refuses JSON of the wrong shape everywhere: a list, a text, a number, nothing', async () => {
    await everywhere(async (label, client, method, path) => {
      for (const body of ['[]', '"text"', '12', 'true']) {
        const answer = await send(client, method, path, body, { headers: { 'If-Match': 'a'.repeat(64) } });
        expect([label, body, answer.status]).toEqual([label, body, 400]);
        expectEnvelope(`${label} ${body}`, answer);
      }
    });
  });

  it('refuses other content types everywhere, before it looks at the bytes', async () => {
    await everywhere(async (label, client, method, path) => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/jsonp', 'text/json', ';']) {
        if (label === 'sign-in' && type.includes('urlencoded')) continue;
        const answer = await send(client, method, path, '{}', { headers: { 'Content-Type': type } });
        expectRefusal(`${label} ${type}`, answer, 415, 'request.unsupported_media_type');
      }
    });
    const charset = await send(author, 'POST', '/api/v1/pipelines/validate', '{}', {
      headers: { 'Content-Type': 'Application/JSON; charset=utf-8' },
    });
    expect(charset.status).toBe(200);
  }); // prettier-ignore

  it('refuses bodies over the limit, whether they announce their size or come in pieces', async () => {
    const large = `"${'x'.repeat(3 * 1024 * 1024)}"`;
    await everywhere(async (label, client, method, path) => {
      const limit = path.startsWith('/graphql') ? 1_048_576 : 2_097_152;
      const announced = await send(client, method, path, large);
      expectRefusal(`${label}, announced`, announced, 413, 'request.body_too_large', {
        limit_bytes: expect.anything(),
      });
      expect(Number(errorOf(announced).details.limit_bytes)).toBe(limit);
    });
    // What carries many documents may be larger: it is read, and refused for what it is.
    for (const path of ['/api/v1/pipelines/import', '/api/v1/templates/import']) {
      expectRefusal(path, await send(author, 'POST', path, large), 400, BAD_INPUT);
    }
    const pieces = (async function* () {
      for (let sent = 0; sent < 40; sent++) yield Buffer.alloc(65_536, 0x20);
    })();
    const response = await fetch(`${deployment.server.baseUrl}/api/v1/pipelines`, {
      method: 'POST',
      body: pieces,
      duplex: 'half',
      headers: { 'DP-API-Key': deployment.authorKey, 'Content-Type': 'application/json' },
    } as RequestInit);
    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
      413,
      'request.body_too_large',
    ]);
  });

  it('names an unknown field, a missing one and one of the wrong type', async () => {
    await Promise.all(
      badFields(senders, targets).map(async ([client, method, path, body, field, reason]) => {
        const answer = await client.call(method, path, body);
        expectRefusal(`${method} ${path} ${field}`, answer, 400, BAD_INPUT, { field, reason });
      }),
    );
  });

  it('refuses a number that no column can hold as it refuses an absent version, never as a failure of its own', async () => {
    for (const version of ['2147483648', '9007199254740991', '0', '-1']) {
      const raw = `{"version": ${version}}`;
      const run = await send(author, 'POST', `/api/v1/pipelines/${pipelineId}/execute`, raw);
      expectRefusal(`execute ${version}`, run, 404, 'pipeline.execution.not_found');
      const pointer = await send(admin, 'POST', `/api/v1/pipelines/${pipelineId}/current`, raw);
      expect([version, pointer.status]).toEqual([version, 404]);
      const template = await author.call('GET', `/api/v1/templates/versions?name=bad/input/one.sql&version=${version}`);
      expectRefusal(`template ${version}`, template, 404, 'template.not_found');
      const path = await author.call('GET', `/api/v1/pipelines/${pipelineId}/versions/${version}`);
      expectRefusal(`path ${version}`, path, 404, 'pipeline.execution.not_found');
    }
    for (const pinned of ['2147483648', '99999999999999999999', `1${'0'.repeat(400)}`]) {
      const node = `{"id": "a", "type": "DQL", "source": "tempdb", "output": {"target": "caller"},
                     "template": {"id": "bad/input/one.sql", "version": ${pinned}}}`;
      const document = `{"schema_version": 1, "name": "bad/input/two", "display_name": "two", "description": "", "parameters": {}, "nodes": [${node}]}`;
      const answer = await send(author, 'POST', '/api/v1/pipelines', document);
      expect([pinned, answer.status, answer.body.error.code]).toEqual([
        pinned,
        400,
        'pipeline.validation.template_version_not_found',
      ]);
    }
  });

  it('judges query parameters: repeated, no number, no word, no moment, no text', async () => {
    await Promise.all(
      badQueries(targets).map(async ([path, field, reason]) =>
        expectRefusal(path, await author.call('GET', path), 400, BAD_INPUT, { field, reason }),
      ),
    );
  });

  it('clamps offsets and limits of any size, and says which were used', async () => {
    const lists = ['/api/v1/pipelines', '/api/v1/pipelines?prefix=', '/api/v1/templates', '/api/v1/templates?prefix=bad', '/api/v1/executions', '/api/v1/datasources', '/api/v1/endpoints', '/api/v1/auth/api-keys', '/api/v1/workspaces']; // prettier-ignore
    for (const path of lists) {
      const glue = path.includes('?') ? '&' : '?';
      for (const [asked, effective] of [
        ['offset=-5&limit=0', [0, 1]],
        ['offset=0&limit=-7', [0, 1]],
        ['limit=99999999999999999999999999', [0, 200]],
      ] as const) {
        const answer = await author.call('GET', `${path}${glue}${asked}`);
        expect([path, asked, answer.status]).toEqual([path, asked, 200]);
        const { pagination } = answer.body.data;
        if (pagination)
          expect([path, Number(pagination.offset), Number(pagination.limit)]).toEqual([path, ...effective]);
      }
      const beyond = await author.call('GET', `${path}${glue}offset=${'9'.repeat(40)}`);
      expect([path, beyond.status]).toEqual([path, 200]);
      expect([path, (beyond.body.data.items ?? []).length]).toEqual([path, 0]);
    }
    const rows = await author.data('GET', `/api/v1/executions/${executionId}/result?offset=${'9'.repeat(30)}&limit=0`);
    expect(rows.rows).toEqual([]);
  });

  it('answers an id that is none exactly like one that is absent', async () => {
    const headers = { 'If-Match': 'a'.repeat(64), Accept: '*/*' };
    await Promise.all(
      idDoors(senders).map(async ([method, path, client, body]) => {
        const absent = await client.call(method, path(NOWHERE), body, { headers });
        for (const id of NO_IDS) {
          const answer = await client.call(method, path(id), body, { headers });
          const label = `${method} ${path(id).slice(0, 80)}`;
          if (absent.status === 204) expect([label, answer.status]).toEqual([label, 204]);
          else expectRefusal(label, answer, 404, absent.body.error.code);
        }
      }),
    );
  });

  it('refuses every If-Match that is no body hash, and a stale one with the current hash', async () => {
    const path = `/api/v1/pipelines/${pipelineId}/release`;
    const missing = [undefined, '', ' ', '*', 'W/"abc"', `W/"${'a'.repeat(64)}"`, '""'];
    for (const value of missing) {
      const answer = await author.call('POST', path, undefined, { headers: value === undefined ? {} : { 'If-Match': value } });
      expectRefusal(`If-Match ${value}`, answer, 400, BAD_INPUT, { reason: 'precondition_missing' });
    }
    for (const value of ['abc', `"${'a'.repeat(64)}"`, `"${'a'.repeat(64)}.12345678"`, `"a", "b"`]) {
      const answer = await author.call('POST', path, undefined, { headers: { 'If-Match': value } });
      expect([value, answer.status >= 400 && answer.status < 500]).toEqual([value, true]);
      expectEnvelope(value, answer);
    }
  }); // prettier-ignore

  it('deletes nothing for a stale If-Match, tells the hash that stands, and then deletes for that one', async () => {
    const template = { dialect: 'DUCKDB', display_name: 'Stale', description: '', body: 'SELECT 1 AS one' };
    const pin = { id: 'bad/input/stale.sql', version: 1 };
    const mended = 'SELECT 2 AS two';
    const doors: [entity: 'pipeline' | 'template', address: (id: string) => [read: string, remove: string]][] = [
      ['pipeline', (id) => [`pipelines/${id}`, `pipelines/${id}/versions/1`]],
      ['pipeline', (id) => [`pipelines/${id}`, `pipelines/${id}`]],
      ['template', (id) => [`templates?name=${id}`, `templates/version?name=${id}&version=1`]],
      ['template', (id) => [`templates?name=${id}`, `templates?name=${id}`]],
    ]; // prettier-ignore
    await author.data('POST', '/api/v1/templates', { ...template, id: pin.id });
    for (const [place, [entity, address]] of doors.entries()) {
      const name = `bad/input/stale${place}`;
      const body =
        entity === 'template'
          ? { ...template, id: name }
          : { name, display_name: 'Stale', description: '', parameters: {}, nodes: [{ id: 'read', type: 'DQL', source: 'tempdb', template: pin, output: { target: 'caller' } }] }; // prettier-ignore
      const first = await author.data('POST', `/api/v1/${entity}s`, body);
      const id = entity === 'template' ? encodeURIComponent(name) : String(first.id);
      const [read, remove] = address(id).map((path) => `/api/v1/${path}`) as [string, string];
      const save = entity === 'template' ? '/api/v1/templates' : read;
      const change = entity === 'template' ? { body: mended } : { description: mended };
      const second = await author.data('PUT', save, { ...body, ...change }, { headers: { 'If-Match': first.body_hash } });
      expect([remove, second.body_hash === first.body_hash]).toEqual([remove, false]);
      for (const stale of [first.body_hash, 'a'.repeat(64), `"${first.body_hash}"`]) {
        const answer = await admin.call('DELETE', remove, undefined, { headers: { 'If-Match': stale } });
        expectRefusal(`DELETE ${remove} ${stale}`, answer, 409, `${entity}.version.conflict`, {
          current_body_hash: second.body_hash,
        });
        expect([remove, (await author.data('GET', read)).body_hash]).toEqual([remove, second.body_hash]);
      }
      const gone = await admin.call('DELETE', remove, undefined, { headers: { 'If-Match': second.body_hash } });
      expect([remove, gone.status < 300, (await author.call('GET', read)).status]).toEqual([remove, true, 404]);
    }
  }); // prettier-ignore

  it('refuses resume points, keys and formats it cannot honour', async () => {
    const events = `/api/v1/executions/${executionId}/events`;
    for (const value of ['x', '-1', '1.5', '1e3', '', '99999999999999999999']) {
      const answer = await author.call('GET', events, undefined, { headers: { 'Last-Event-ID': value } });
      expectRefusal(`Last-Event-ID ${value}`, answer, 400, BAD_INPUT, { field: 'Last-Event-ID' });
    }
    const run = `/api/v1/pipelines/${pipelineId}/execute`;
    const calls: [label: string, answer: Promise<Answer>, status: number, code: string][] = [
      ['JSON where a stream is made', author.call('POST', run, {}, { headers: { Accept: 'application/json' } }), 406, 'request.not_acceptable'],
      ['a stream where JSON is made', author.call('POST', run, {}, { headers: { Accept: 'text/event-stream', Prefer: 'respond-async' } }), 406, 'request.not_acceptable'],
      ['events as a page', author.call('GET', events, undefined, { headers: { Accept: 'text/html' } }), 406, 'request.not_acceptable'],
      ['a result as parquet', author.call('GET', `/api/v1/executions/${executionId}/result?format=parquet`), 400, 'result.format_unsupported'],
      ['GraphQL as XML', author.call('POST', '/graphql', { query: '{ __typename }' }, { headers: { Accept: 'application/xml' } }), 406, 'request.not_acceptable'],
      ['an empty idempotency key', author.call('POST', run, {}, { headers: { 'Idempotency-Key': '' } }), 400, BAD_INPUT],
      ['a long idempotency key', author.call('POST', run, {}, { headers: { 'Idempotency-Key': 'k'.repeat(256) } }), 400, BAD_INPUT],
      ['an idempotency key with a space', author.call('POST', run, {}, { headers: { 'Idempotency-Key': 'a b' } }), 400, BAD_INPUT],
    ]; // prettier-ignore
    for (const [label, answer, status, code] of calls) expectRefusal(label, await answer, status, code);
    const odd = await author.call('POST', run, {}, { headers: { 'DP-Result-TTL-Seconds': 'long', 'DP-Result-Page-Rows': '-3' } }); // prettier-ignore
    expect(odd.status).toBe(200);
  });

  it('replaces a correlation id that is none, and keeps one that is', async () => {
    for (const given of ['x', '', "'; DROP TABLE users", 'a'.repeat(5000)]) {
      const answer = await author.call('GET', '/api/v1/auth/me', undefined, {
        headers: { 'DP-Correlation-Id': given },
      });
      expect(answer.headers.get('DP-Correlation-Id')).toMatch(/^[0-9a-f-]{36}$/);
    }
    const own = randomUUID();
    const answer = await author.call('GET', '/api/v1/nothing', undefined, { headers: { 'DP-Correlation-Id': own } });
    expect([answer.body.correlation_id, answer.headers.get('DP-Correlation-Id')]).toEqual([own, own]);
  });

  it('gives an endpoint no text that its caller did not send', async () => {
    await releasedTemplate(author, { id: 'bad/input/city.sql', dialect: 'DUCKDB', body: 'SELECT :city AS city' });
    const node = { id: 'a', type: 'DQL', source: 'tempdb', template: { id: 'bad/input/city.sql', version: 1 }, output: { target: 'caller' } };
    await releasedPipeline(author, { name: 'bad/input/city', parameters: { city: { type: 'STRING', required: false } }, nodes: [node] });
    await author.data('POST', '/api/v1/endpoints', { path: '/city', pipeline: 'bad/input/city' });
    for (const value of ['%ff', '%ed%a0%80', '%', '%00', 'a%c3']) {
      const answer = await author.call('GET', `/api/x/city?city=${value}`);
      expectRefusal(value, answer, 400, 'endpoint.request.invalid');
      const told = answer.body.error.details.errors.map(({ parameter, code }: Record<string, string>) => [parameter, code]);
      expect([value, told]).toEqual([value, [['city', 'pipeline.execution.invalid_parameter_type']]]);
    }
    expectRefusal('name', await author.call('GET', '/api/x/city?%ff=1'), 400, 'endpoint.request.invalid');
    for (const [query, city] of [['city=Z%C3%BCrich', 'Zürich'], ['city=New+York&', 'New York'], ['city=%EF%BF%BD', '\ufffd'], ['city', ''], ['', null]] as const) {
      expect([query, (await author.call('GET', `/api/x/city?${query}`)).body.rows]).toEqual([query, [[city]]]);
    }
  }); // prettier-ignore

  it('matches the path of an endpoint byte by byte', async () => {
    await author.data('POST', '/api/v1/endpoints', { path: '/bad', pipeline: 'bad/input/one' });
    expect((await author.call('GET', '/api/x/bad')).status).toBe(200);
    for (const path of ['/api/x/bad/', '/api/x//bad', '/api/x/Bad/one', '/api/x/nope', '/api/x/', '/api/x/bad/%20']) {
      const answer = await author.call('GET', path);
      expectRefusal(path, answer, 404, 'endpoint.not_found');
    }
    // The verb comes first: no key, and no wrong one, changes the answer.
    const callers = [author, new ApiClient(author.baseUrl), ApiClient.withKey(author.baseUrl, 'dp_nonsense')];
    for (const caller of callers) {
      expect((await caller.call('GET', '/api/x/nope')).status).toBe(caller === author ? 404 : 401);
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']) {
        const answer = await caller.call(method, '/api/x/nope');
        expect([method, answer.status, answer.headers.get('Allow')]).toEqual([method, 405, 'GET']);
        if (method !== 'HEAD') expectRefusal(method, answer, 405, 'endpoint.method_not_allowed');
      }
    }
  });
});
