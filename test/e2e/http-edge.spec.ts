import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { oneNodePipeline, releasedPipeline, releasedTemplate } from '../fixtures/authoring.js';
import { Deployment } from '../fixtures/deployment.js';
import { eventually } from '../fixtures/eventually.js';
import { addPerson, emailOf, PASSWORD, signIn } from '../fixtures/people.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { parseAnswer, rawCall, RawConnection, rawExchange } from '../fixtures/raw-http.js';
import { expectRefusal } from '../fixtures/refusals.js';

const NOWHERE = '01900000-0000-7000-8000-000000000000';
/** Stays inside the engine until somebody stops it. */
const ENDLESS = 'SELECT sum(a.range * b.range) AS s FROM range(10000000) a, range(100000) b';
const HTML = { headers: { Accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' } };

describeWithProgram('redis-server', 'the edge of HTTP', (redis) => {
  let deployment: Deployment;
  let baseUrl: string;
  let author: ApiClient;
  let nobody: ApiClient;
  let slow: RawConnection;
  let pipelineId: string;
  let executionId: string;
  /** Another run, whose rows may be lost. */
  let shortLived: string;

  beforeAll(async () => {
    deployment = await Deployment.start({
      redis,
      env: {
        DATAPIPELINES_RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '100000',
        DATAPIPELINES_CORS_ALLOWED_ORIGINS: 'https://app.example.org',
        DATAPIPELINES_AUTH_TRUSTED_PROXIES: '127.0.0.1',
      },
    });
    ({ baseUrl } = deployment.server);
    author = deployment.author;
    nobody = new ApiClient(baseUrl);
    slow = await RawConnection.open(baseUrl);
    slow.write(`GET /health HTTP/1.1\r\nHost: ${new URL(baseUrl).host}\r\n`);
    const drip = setInterval(() => slow.write('X-Drip: 1\r\n'), 500);
    void slow.closed.then(() => clearInterval(drip));
    await addPerson(deployment, 'leaver', { memberships: { default: {} } });
    pipelineId = await oneNodePipeline(author, {
      name: 'edge/of/http', source: 'tempdb', dialect: 'DUCKDB', sql: 'SELECT 1 AS one',
    }); // prettier-ignore
    const run = async () => {
      const { headers } = await author.call('POST', `/api/v1/pipelines/${pipelineId}/execute`, {});
      return headers.get('DP-Execution-Id') as string;
    };
    executionId = await run();
    shortLived = await run();
    await author.data('POST', '/api/v1/endpoints', { path: '/edge', pipeline: pipelineId });
  }, 90_000);

  afterAll(async () => {
    const health = await nobody.call('GET', '/health');
    const unexpected = deployment.server.output.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
    await deployment.stop();
    expect([health.status, unexpected]).toEqual([200, []]);
  });

  it('refuses request lines that two parsers could read differently', async () => {
    const long = `/api/v1/pipelines?q=${'a'.repeat(9 * 1024)}`;
    const cases: [target: string, status: number, code: string][] = [
      ['/api/v1/datasources/a%2Fb', 400, 'request.path_invalid'],
      ['/api/v1/datasources/a%2fb', 400, 'request.path_invalid'],
      ['/api/v1/datasources/a%5Cb', 400, 'request.path_invalid'],
      ['/api/v1/datasources/a%00', 400, 'request.path_invalid'],
      ['/api/v1/datasources/a\\b', 400, 'request.path_invalid'],
      ['/api/v1/datasources/a;b=c', 400, 'request.path_invalid'],
      ['/api/v1/../v1/pipelines', 400, 'request.path_invalid'],
      ['/api/v1/%2e%2E/pipelines', 400, 'request.path_invalid'],
      ['/api/v1/./pipelines', 400, 'request.path_invalid'],
      ['/assets/pages/..%2f..%2fpackage.json', 400, 'request.path_invalid'],
      ['/assets/pages/../../../../package.json', 400, 'request.path_invalid'],
      ['/api/v1/datasources/%ff', 400, 'request.path_invalid'],
      ['/api/v1/datasources/%zz', 400, 'request.path_invalid'],
      ['/api/v1/datasources/\u00e4', 400, 'request.malformed'],
      ['http://elsewhere/api/v1/pipelines', 400, 'request.path_invalid'],
      ['/api/v1/pipelines/', 404, 'request.not_found'],
      ['/api/v1/Pipelines', 404, 'request.not_found'],
      ['/api/v1//pipelines', 404, 'request.not_found'],
      ['//api/v1/pipelines', 404, 'request.not_found'],
      ['/API/v1/pipelines', 404, 'request.not_found'],
      ['/%61pi/v1/pipelines', 404, 'request.not_found'],
      ['/api/v1', 404, 'request.not_found'],
      ['/api/v2/pipelines', 404, 'request.not_found'],
      ['/graphql/', 404, 'request.not_found'],
      [long, 414, 'request.uri_too_long'],
    ];
    for (const [target, status, code] of cases) {
      const answer = await rawCall(baseUrl, { target, headers: { 'DP-API-Key': deployment.authorKey } });
      expectRefusal(target.slice(0, 60), answer, status, code);
      expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff');
    }
  });

  it('tells a wrong verb from a path where nothing is, and which verbs there are', async () => {
    const cases: [method: string, path: string, allow: string][] = [
      ['DELETE', '/api/v1/pipelines', 'POST, GET, HEAD, OPTIONS'],
      ['PATCH', `/api/v1/pipelines/${pipelineId}`, 'GET, PUT, DELETE, HEAD, OPTIONS'],
      ['GET', `/api/v1/pipelines/${pipelineId}/execute`, 'POST, OPTIONS'],
      ['HEAD', `/api/v1/pipelines/${pipelineId}/execute`, 'POST, OPTIONS'],
      ['POST', '/health', 'GET, HEAD, OPTIONS'],
      ['GET', '/logout', 'POST, OPTIONS'],
      ['TRACE', '/api/v1/pipelines', 'POST, GET, HEAD, OPTIONS'],
      ['TRACE', '/', 'GET, HEAD, OPTIONS'],
      ['PROPFIND', '/nothing', 'GET, HEAD, OPTIONS'],
    ];
    for (const [method, target, allow] of cases) {
      const answer = await rawCall(baseUrl, { method, target, headers: { 'DP-API-Key': deployment.authorKey } });
      expect([method, target, answer.status, answer.headers.get('Allow')]).toEqual([method, target, 405, allow]);
      if (method !== 'HEAD') expectRefusal(`${method} ${target}`, answer, 405, 'request.method_not_allowed');
    }
    for (const [target, allow] of [['/api/v1/pipelines', 'POST, GET, HEAD, OPTIONS'], ['/api/x/any', 'GET, OPTIONS']] as const) {
      const answer = await rawCall(baseUrl, { method: 'OPTIONS', target });
      expect([target, answer.status, answer.headers.get('Allow'), answer.text]).toEqual([target, 204, allow, '']);
    }
    const nowhere = await rawCall(baseUrl, { method: 'OPTIONS', target: '/nothing' });
    expectRefusal('OPTIONS /nothing', nowhere, 404, 'request.not_found');
  }); // prettier-ignore

  it('answers HEAD like GET without a body, and never holds a stream open for it', async () => {
    for (const path of ['/api/v1/pipelines', `/api/v1/pipelines/${pipelineId}`, '/health', '/login', `/api/v1/executions/${executionId}/events`, `/api/v1/executions/${executionId}/result?format=csv`]) {
      const [head, get] = [await author.call('HEAD', path), await author.call('GET', path)];
      expect([path, head.status, head.text, head.headers.get('Content-Type'), head.headers.get('ETag')]).toEqual([path, get.status, '', get.headers.get('Content-Type'), get.headers.get('ETag')]);
    }
    const absent = await author.call('HEAD', `/api/v1/pipelines/${NOWHERE}`);
    expect([absent.status, absent.text]).toEqual([404, '']);
  }); // prettier-ignore

  it('hands out a file as a file, under a name of its own making', async () => {
    for (const wish of ['', '&filename=..%2F%22evil.html']) {
      const answer = await author.call('GET', `/api/v1/executions/${executionId}/result?format=csv${wish}`);
      expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'text/csv; charset=utf-8']);
      expect(answer.headers.get('Content-Disposition')).toBe(`attachment; filename="${executionId}.csv"`);
    }
  });

  it('breaks the connection of a download whose rows expire midway: a short file must not look complete', async () => {
    const path = `/api/v1/executions/${shortLived}/result?format=csv`;
    expect((await author.call('GET', path)).text).toBe('one\r\n1\r\n');
    expect(await deployment.redis.client.del(`dp:result:${shortLived}:rows`)).toBe(1);
    const response = await author.fetch('GET', path);
    expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'text/csv; charset=utf-8']);
    await expect(response.text()).rejects.toThrow('terminated');
    // Whose rows are gone before the first byte is told so.
    expect((await author.call('GET', path.replace('csv', 'json'))).body.error.code).toBe('result.expired');
  });

  it('signs people in and hands out files while twelve statements hold the engine', async () => {
    // Each holds a thread of the process's one pool, which password hashes and files need too.
    await releasedTemplate(author, { id: 'edge/endless.sql', dialect: 'DUCKDB', body: ENDLESS });
    const endless = await releasedPipeline(author, {
      name: 'edge/endless',
      nodes: ['a', 'b', 'c', 'd'].map((id) => ({
        ...{ id, type: 'DQL', source: 'tempdb', template: { id: 'edge/endless.sql', version: 1 } },
        output: { target: 'tempdb', table: id },
      })),
    });
    const headers = { Prefer: 'respond-async' };
    const launch = () => author.data('POST', `/api/v1/pipelines/${endless}/execute`, {}, { headers });
    const runs = (await Promise.all([launch(), launch(), launch()])).map(({ execution_id: id }) => id as string);
    const browser = new ApiClient(baseUrl);
    const page = await browser.call('GET', '/login', undefined, HTML);
    const file = page.text.match(/\/assets\/[^"]+/)?.[0] ?? '';
    try {
      await eventually('twelve statements in the engine', async () => {
        const [row] = await deployment.metadata<{ n: number }>(
          `SELECT COUNT(*)::int AS n FROM execution_events WHERE execution_id = ANY($1) AND event_type = 'node_started'`,
          [runs],
        );
        return row?.n === 12;
      });
      const signal = AbortSignal.timeout(20_000);
      const body = { email: emailOf('leaver'), password: PASSWORD };
      const answers = await Promise.all([
        browser.call('POST', '/login', body, { signal }),
        nobody.call('GET', file, undefined, { signal }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    } finally {
      for (const id of runs) await author.call('DELETE', `/api/v1/executions/${id}`);
    }
    await eventually('their end', async () => {
      const rows = await deployment.metadata(
        `SELECT 1 AS open FROM pipeline_executions WHERE execution_id = ANY($1) AND status = 'RUNNING'`,
        [runs],
      );
      return rows.length === 0;
    });
  });

  describe('bytes that are no request', () => {
    const head = (lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;

    it('answers what no parser accepts in the same envelope, and closes', async () => {
      const host = `Host: ${new URL(baseUrl).host}`;
      const cases: [label: string, bytes: string, status: number, code: string][] = [
        ['no HTTP', 'hello\r\n\r\n', 400, 'request.malformed'],
        ['TLS on a plain port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'request.malformed'],
        ['two lengths', head(['POST /login HTTP/1.1', host, 'Content-Length: 1', 'Content-Length: 2']), 400, 'request.malformed'],
        ['length and chunks', head(['POST /login HTTP/1.1', host, 'Content-Length: 4', 'Transfer-Encoding: chunked']) + '0\r\n\r\n', 400, 'request.malformed'],
        ['a negative length', head(['POST /login HTTP/1.1', host, 'Content-Length: -1']), 400, 'request.malformed'],
        ['a space before the colon', head(['GET /health HTTP/1.1', host, 'DP-API-Key : x']), 400, 'request.malformed'],
        ['NUL in a header', head(['GET /health HTTP/1.1', host, 'X-Thing: a\0b']), 400, 'request.malformed'],
        ['no Host', head(['GET /health HTTP/1.1', 'Connection: close']), 400, 'request.malformed'],
        ['a header of 40 KB', head(['GET /health HTTP/1.1', host, `X-Thing: ${'a'.repeat(40_000)}`]), 431, 'request.headers_too_large'],
        ['a URL of 40 KB', head([`GET /${'a'.repeat(40_000)} HTTP/1.1`, host]), 431, 'request.headers_too_large'],
        ['a broken chunk', head(['POST /login HTTP/1.1', host, 'Content-Type: application/json', 'Transfer-Encoding: chunked']) + 'zz\r\n', 400, 'request.malformed'],
      ]; // prettier-ignore
      for (const [label, bytes, status, code] of cases) {
        expectRefusal(label, parseAnswer(await rawExchange(baseUrl, bytes)), status, code);
      }
    });

    it('answers the request before pipelined garbage, and nothing behind it', async () => {
      const host = `Host: ${new URL(baseUrl).host}`;
      const received = await rawExchange(baseUrl, `${head(['GET /info HTTP/1.1', host])}GARBAGE\r\n\r\n`);
      expect(received.match(/HTTP\/1\.1 /g)).toHaveLength(1);
      expect(parseAnswer(received).status).toBe(200);
      const two = `${head(['GET /info HTTP/1.1', host])}${head(['GET /nope HTTP/1.1', host, 'Connection: close'])}`;
      expect((await rawExchange(baseUrl, two)).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 401']);
    });

    it('ends a connection whose headers trickle in, and serves others meanwhile', async () => {
      expect((await nobody.call('GET', '/health')).status).toBe(200);
      await slow.closed;
      expectRefusal('trickling headers', parseAnswer(slow.received), 408, 'request.timeout');
    });

    it('does not wait for a client that hangs up in the middle of its body', async () => {
      const gone = await RawConnection.open(baseUrl);
      const length = 'Content-Type: application/json\r\nContent-Length: 100';
      gone.write(
        `POST /api/v1/pipelines HTTP/1.1\r\nHost: x\r\nDP-API-Key: ${deployment.authorKey}\r\n${length}\r\n\r\n{"name`,
      );
      gone.socket.destroy();
      expect((await author.call('GET', '/api/v1/auth/me')).status).toBe(200);
    });
  });

  it('limits strangers and guesses per address, and people over all doors', async () => {
    const strict = await deployment.addServer({
      DATAPIPELINES_RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '4',
      DATAPIPELINES_RATE_LIMIT_REQUESTS_PER_MINUTE: '1',
      DATAPIPELINES_AUTH_RATE_LIMIT_LOGIN_PER_MINUTE: '2',
    });
    const stranger = new ApiClient(strict.baseUrl);
    const from = (address: string, headers = {}) => ({ headers: { 'X-Forwarded-For': address, ...headers } });
    const guesses = [{}, { 'DP-API-Key': 'x' }, { Cookie: 'dp_session=x' }, { 'DP-API-Key': 'dpk_' }, {}];
    const statuses = [];
    for (const headers of guesses) {
      const answer = await stranger.call('GET', '/api/v1/pipelines', undefined, from('203.0.113.7', headers));
      statuses.push(answer.status);
      if (answer.status !== 429) continue;
      expectRefusal('a guess too many', answer, 429, 'rate_limit.exceeded', { window: 'minute' });
      expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0);
      expect(answer.headers.get('RateLimit-Remaining')).toBe('0');
    }
    expect(statuses).toEqual([401, 401, 401, 401, 429]);
    expect((await stranger.call('GET', '/api/v1/x', undefined, from('203.0.113.8'))).status).toBe(401);
    expect((await stranger.call('GET', '/health', undefined, from('203.0.113.7'))).status).toBe(200);

    const forged = { 'DP-CSRF-Token': 'x' };
    const attempts = [(await stranger.call('GET', '/login', undefined, from('203.0.113.9'))).status];
    // A forged request is told so before it is counted: it is no attempt to sign in.
    expectRefusal(
      'forged',
      await stranger.call('POST', '/login', {}, from('203.0.113.9', forged)),
      403,
      'auth.csrf.invalid',
      { reason: 'mismatch' },
    );
    for (let count = 0; count < 2; count++)
      attempts.push(
        (await stranger.call('POST', '/login', { email: 'a@b.c', password: 'x' }, from('203.0.113.9'))).status,
      );
    expect(attempts).toEqual([200, 401, 429]);
    expect((await stranger.call('GET', '/login', undefined, from('203.0.113.9'))).status).toBe(429);
    expect((await stranger.call('GET', '/login', undefined, from('203.0.113.10'))).status).toBe(200);
    // It spends what strangers have, four a minute here, so that a flood of forgeries ends as well.
    const forgeries = [];
    for (let count = 0; count < 5; count++)
      forgeries.push((await stranger.call('POST', '/login', {}, from('203.0.113.11', forged))).status);
    expect(forgeries).toEqual([403, 403, 403, 403, 429]);

    // The budget is the person's, on every instance: what was spent before counts here.
    expectRefusal(
      'the author',
      await author.on(strict.baseUrl).call('GET', '/api/v1/auth/me'),
      429,
      'rate_limit.exceeded',
    );
  });

  it('answers 304 only for the very representation, and with the same rights', async () => {
    const path = `/api/v1/pipelines/${pipelineId}`;
    const etag = (await author.call('GET', path)).headers.get('ETag') as string;
    expect(etag).toMatch(/^"[0-9a-f]{64}\.[0-9a-f]{8}"$/);
    const ask = (value: string, client = author) =>
      client.call('GET', path, undefined, { headers: { 'If-None-Match': value } });
    for (const value of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const answer = await ask(value);
      expect([value, answer.status, answer.text, answer.headers.get('ETag')]).toEqual([value, 304, '', etag]);
      expect(answer.headers.get('Cache-Control')).toBe('private, no-cache');
    }
    for (const value of ['"x"', etag.slice(1, -1), ''])
      expect([value, (await ask(value)).status]).toEqual([value, 200]);
    expect((await ask(etag, nobody)).status).toBe(401);
  });

  it('lets files whose address changes with their content be kept for ever, and no others', async () => {
    const browser = await signIn(deployment, 'leaver');
    const kept: string[] = [];
    for (const page of ['/graphql', '/docs/api', '/docs/errors', '/login', '/']) {
      const { text } = await browser.call('GET', page, undefined, HTML);
      kept.push(...(text.match(/\/assets\/[^"]+/g) ?? []));
    }
    expect(new Set(kept.map((path) => path.split('/')[2]))).toEqual(new Set(['graphiql', 'pages', 'swagger-ui']));
    for (const path of kept) {
      const { status, headers } = await nobody.call('GET', path);
      expect([path, status, headers.get('Cache-Control')]).toEqual([path, 200, 'public, max-age=31536000, immutable']);
      // A name that is not there any more is no page and no refusal that a proxy may keep.
      const gone = await nobody.call('GET', path.replace(/\.(js|css|svg)$/, '-gone.$1'), undefined, HTML);
      expect([path, gone.status, gone.text.includes('<html')]).toEqual([path, 404, false]);
      expect(gone.headers.get('Cache-Control')).toBe('no-store');
    }
    // Nor is a file to be had under an address that says nothing of its content.
    expect((await nobody.call('GET', '/assets/pages/page.css')).status).toBe(404);
  });

  it('gives a page of another build behind the same balancer its script, and lets nobody keep it', async () => {
    const ask = (path: string) => nobody.call('GET', `/assets/pages/${path}`);
    const { text = '' } = await nobody.call('GET', '/login', undefined, HTML);
    const [own = ''] = /(?<=\/assets\/pages\/)[^"]+\.js/.exec(text) ?? [];
    const other = own.replace(/^[^/]+/, '0123456789abcdef');
    const [kept, lent] = [await ask(own), await ask(other)];
    expect([lent.status, lent.text, lent.headers.get('Cache-Control')]).toEqual([200, kept.text, 'no-cache']);
    expect(lent.headers.get('Content-Type')).toBe(kept.headers.get('Content-Type'));
    expect(lent.headers.get('ETag')).not.toBeNull();
    for (const hash of ['0123456789abcde', '0123456789abcdef0', '0123456789ABCDEF', '0123456789abcdeg'])
      expect([hash, (await ask(other.replace('0123456789abcdef', hash))).status]).toEqual([hash, 404]);
    for (const gone of ['gone.js', 'login.html', '']) {
      const answer = await ask(`0123456789abcdef/${gone}`);
      expect([gone, answer.status, answer.headers.get('Cache-Control')]).toEqual([gone, 404, 'no-store']);
    }
  });

  it('sends each class of path the headers and cookies written down here, and no others', async () => {
    const shown = ['Cache-Control', 'Clear-Site-Data', 'Content-Security-Policy', 'Content-Type', 'Cross-Origin-Opener-Policy', 'Cross-Origin-Resource-Policy', 'Permissions-Policy', 'Referrer-Policy', 'Set-Cookie', 'Strict-Transport-Security', 'Vary', 'X-Content-Type-Options', 'X-Frame-Options', 'X-Powered-By']; // prettier-ignore
    const leaver = await signIn(deployment, 'leaver');
    const [style = ''] = (await nobody.call('GET', '/docs/errors')).text.match(/\/assets\/[^"]+\.css/) ?? [];
    const classes: [label: string, client: ApiClient, method: string, path: string][] = [
      ['page', new ApiClient(baseUrl), 'GET', '/login'],
      ['public REST', new ApiClient(baseUrl), 'GET', '/api/v1/auth/providers'],
      ['probe', nobody, 'GET', '/health'],
      ['docs', nobody, 'GET', '/docs/errors'],
      ['asset', nobody, 'GET', style],
      ['REST', author, 'GET', '/api/v1/auth/me'],
      ['REST refusal', nobody, 'GET', '/api/v1/auth/me'],
      ['stream', author, 'GET', `/api/v1/executions/${executionId}/events`],
      ['CSV', author, 'GET', `/api/v1/executions/${executionId}/result?format=csv`],
      ['endpoint', author, 'GET', '/api/x/edge'],
      ['GraphQL', author, 'POST', '/graphql'],
      ['GraphQL page', nobody, 'GET', '/graphql'],
      ['bad path', nobody, 'GET', '/a;b'],
      ['sign-in', leaver, 'POST', '/login'],
      ['sign-out', leaver, 'POST', '/logout'],
    ];
    const seen: Record<string, Record<string, string>> = {};
    for (const [label, client, method, path] of classes) {
      const accept = label === 'GraphQL page' || label === 'page' ? HTML.headers : {};
      const body = {
        GraphQL: { query: '{ __typename }' },
        'sign-in': { email: emailOf('leaver'), password: PASSWORD },
      }[label];
      const response = await client.fetch(method, path, body, { headers: { ...accept } });
      await response.text();
      const pairs = shown.flatMap((name) => {
        const value = name === 'Set-Cookie' ? response.headers.getSetCookie().map(withoutValue).join(' | ') : response.headers.get(name); // prettier-ignore
        return value ? [[name, value]] : [];
      });
      seen[label] = { status: String(response.status), ...(Object.fromEntries(pairs) as Record<string, string>) };
    }
    expect(seen).toMatchSnapshot();
  });
});

/** Names and attributes are the contract; values and moments are not. */
function withoutValue(cookie: string): string {
  return cookie.replace(/=[^;]*/, '=…').replace(/Expires=(?!Thu, 01 Jan 1970)[^;]*/, 'Expires=…');
}
