import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiClient } from '../fixtures/api-client.js';
import { oneNodePipeline } from '../fixtures/authoring.js';
import { Deployment } from '../fixtures/deployment.js';
import { addPerson, emailOf, PASSWORD, signIn } from '../fixtures/people.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { rawCall } from '../fixtures/raw-http.js';
import { expectRefusal } from '../fixtures/refusals.js';

const HTML = { headers: { Accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' } };

describeWithProgram('redis-server', 'who may come in', (redis) => {
  let deployment: Deployment;
  let baseUrl: string;
  let admin: ApiClient;
  let author: ApiClient;
  let nobody: ApiClient;
  let pipelineId: string;
  let executionId: string;

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
    admin = deployment.admin.in('default');
    author = deployment.author;
    nobody = new ApiClient(baseUrl);
    pipelineId = await oneNodePipeline(author, {
      name: 'who/may/come', source: 'tempdb', dialect: 'DUCKDB', sql: 'SELECT 1 AS one',
    }); // prettier-ignore
    const run = await author.call('POST', `/api/v1/pipelines/${pipelineId}/execute`, {});
    executionId = run.headers.get('DP-Execution-Id') as string;
    await author.data('POST', '/api/v1/endpoints', { path: '/edge', pipeline: pipelineId });
  }, 90_000);

  afterAll(async () => {
    const health = await nobody.call('GET', '/health');
    const unexpected = deployment.server.output.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
    await deployment.stop();
    expect([health.status, unexpected]).toEqual([200, []]);
  });

  describe('credentials', () => {
    it('refuses every key that is not right, and tells nothing about which part was wrong', async () => {
      const key = deployment.authorKey;
      const [id = '', secret = ''] = key.split('.');
      const made = await admin.data('POST', '/api/v1/auth/api-keys', { name: 'revoked' });
      await admin.data('DELETE', `/api/v1/auth/api-keys/${made.api_key?.id ?? made.id}`);
      const wrong = ['', 'x', 'dpk_', key.toLowerCase(), ` ${id}`, `${id}.`, `${id}.${'A'.repeat(48)}`, `dpk_${'A'.repeat(12)}.${secret}`, `${key}A`, 'k'.repeat(5000), "' OR 1=1", made.key]; // prettier-ignore
      for (const value of wrong) {
        for (const path of ['/api/v1/auth/me', '/api/x/edge', '/graphql']) {
          const client = ApiClient.withKey(baseUrl, value);
          const answer = await client.call(
            path === '/graphql' ? 'POST' : 'GET',
            path,
            path === '/graphql' ? {} : undefined,
          );
          expectRefusal(`${value.slice(0, 20)} ${path}`, answer, 401, 'auth.api_key.invalid');
          expect(answer.text).not.toContain(secret);
        }
      }
      const expired = await admin.data('POST', '/api/v1/auth/api-keys', { name: 'expired' });
      await deployment.metadata("UPDATE api_keys SET expires_at = NOW() - INTERVAL '1 minute' WHERE name = 'expired'");
      const late = await ApiClient.withKey(baseUrl, expired.key).call('GET', '/api/v1/auth/me');
      expectRefusal('expired', late, 401, 'auth.api_key.expired');
    });

    it('lets a presented key decide alone, and refuses a workspace beside it', async () => {
      const both = await admin.call('GET', '/api/v1/auth/me', undefined, { headers: { 'DP-API-Key': 'dpk_wrong' } });
      expectRefusal('bad key, good cookie', both, 401, 'auth.api_key.invalid');
      for (const workspace of ['default', 'nowhere']) {
        const answer = await author.call('GET', '/api/v1/auth/me', undefined, {
          headers: { 'DP-Workspace': workspace },
        });
        expectRefusal(workspace, answer, 400, 'workspace.header_forbidden');
      }
      const unknown = await deployment.admin.in('nowhere').call('GET', '/api/v1/pipelines');
      expectRefusal('unknown workspace', unknown, 404, 'workspace.not_found');
      const cookie = await admin.call('GET', '/api/x/edge');
      expectRefusal('a cookie on the published tree', cookie, 401, 'auth.api_key.missing');
    });

    it('looks at no credential on public paths: a monitor with a dead key still reads the health', async () => {
      for (const path of ['/health', '/ready', '/info', '/login', '/docs/errors', '/api/v1/auth/providers']) {
        const answer = await ApiClient.withKey(baseUrl, 'dead').call('GET', path);
        expect([path, answer.status]).toEqual([path, 200]);
      }
    });

    it('confines an endpoint key to the published tree and its own runs, on unknown paths too', async () => {
      const minted = await admin.data('POST', '/api/v1/auth/api-keys', { name: 'app', kind: 'endpoint', bindings: ['/'] });
      const app = ApiClient.withKey(baseUrl, minted.key);
      expect((await app.call('GET', '/api/x/edge')).status).toBe(200);
      for (const [method, path] of [['GET', '/api/v1/pipelines'], ['GET', '/api/v1/nothing'], ['GET', '/api/v1/executions'], ['DELETE', `/api/v1/executions/${executionId}`], ['POST', '/graphql'], ['GET', '/settings/password'], ['POST', '/logout']] as const) {
        const answer = await app.call(method, path, method === 'POST' ? {} : undefined);
        expectRefusal(`${method} ${path}`, answer, 403, 'endpoint.key_kind_refused', { reason: 'endpoint_key_off_surface' });
      }
      const foreign = await app.call('GET', `/api/v1/executions/${executionId}`);
      expectRefusal('a run of another key', foreign, 404, 'result.execution_not_found');
    }); // prettier-ignore
  });

  describe('forged requests', () => {
    it('needs the CSRF token of this very session, and an Origin that is ours', async () => {
      const doors = [['POST', '/api/v1/auth/api-keys'], ['POST', '/graphql'], ['POST', '/logout'], ['DELETE', '/api/v1/auth/sessions'], ['PUT', '/api/v1/workspaces/default'], ['PATCH', '/api/v1/auth/me']] as const; // prettier-ignore
      for (const [method, path] of doors) {
        const label = `${method} ${path}`;
        const send = (headers: Record<string, string>) => admin.call(method, path, {}, { headers });
        expectRefusal(label, await send({ 'DP-CSRF-Token': '' }), 403, 'auth.csrf.invalid', { reason: 'missing' });
        expectRefusal(label, await send({ 'DP-CSRF-Token': 'x' }), 403, 'auth.csrf.invalid', { reason: 'mismatch' });
        for (const origin of [
          'https://evil.example',
          'null',
          `${baseUrl}.evil.example`,
          'https://app.example.org',
          '',
        ]) {
          const answer = await send({ Origin: origin });
          expectRefusal(`${label} ${origin}`, answer, 403, 'auth.csrf.invalid', { reason: 'origin' });
        }
      }
      const own = await admin.call(
        'PATCH',
        '/api/v1/auth/me',
        { theme_preference: 'dark' },
        { headers: { Origin: baseUrl } },
      );
      expect(own.status).toBe(200);
    });

    it('leaves the token of a signed-in browser alone where tokens are handed out', async () => {
      // An anonymous token in its place would make every open page's next write a forgery.
      for (const path of ['/login', '/api/v1/auth/providers']) {
        expect([path, (await admin.fetch('GET', path)).headers.getSetCookie()]).toEqual([path, []]);
      }
      expect((await admin.call('PATCH', '/api/v1/auth/me', { theme_preference: null })).status).toBe(200);
      const first = new ApiClient(baseUrl);
      expect((await first.fetch('GET', '/login')).headers.getSetCookie()).toHaveLength(1);
      expect((await first.fetch('GET', '/login')).headers.getSetCookie()).toEqual([]);
    });

    it('needs it to sign in as well, so that nobody is signed in as somebody else', async () => {
      const blank = new ApiClient(baseUrl);
      const answer = await blank.call('POST', '/login', { email: 'a@b.c', password: 'x' });
      expectRefusal('no token', answer, 403, 'auth.csrf.invalid', { reason: 'missing' });
    });

    it('answers other origins without a word, and known ones exactly', async () => {
      const preflight = (origin: string) =>
        rawCall(baseUrl, {
          method: 'OPTIONS',
          target: '/api/v1/pipelines',
          headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' },
        });
      const known = await preflight('https://app.example.org');
      expect([known.status, known.headers.get('Access-Control-Allow-Origin'), known.headers.get('Access-Control-Max-Age')]).toEqual([204, 'https://app.example.org', '3600']);
      for (const origin of ['https://evil.example', 'https://app.example.org.evil.example', 'null']) {
        const answer = await preflight(origin);
        expect([origin, answer.headers.get('Access-Control-Allow-Origin')]).toEqual([origin, null]);
      }
    }); // prettier-ignore
  });

  describe('pages', () => {
    it('sends a browser that is nobody to sign in and back, and a program nowhere', async () => {
      const cases: [path: string, location: string][] = [
        ['/pipelines/abc?tab=1', '/login?return_to=%2Fpipelines%2Fabc%3Ftab%3D1'],
        ['/settings/password', '/login?return_to=%2Fsettings%2Fpassword'],
        ['//evil.example/x', '/login?return_to=%2F'],
        ['/', '/login'],
        ['/graphql', '/login?return_to=/graphql'],
      ];
      for (const [target, location] of cases) {
        const answer = await rawCall(baseUrl, { target, ...HTML });
        expect([target, answer.status, answer.headers.get('Location')]).toEqual([target, 302, location]);
      }
      const stale = await nobody.call('GET', '/pipelines', undefined, {
        headers: { ...HTML.headers, Cookie: 'dp_session=x' },
      });
      expect([stale.status, stale.headers.get('Location')]).toEqual([302, '/login?return_to=%2Fpipelines']);
      for (const path of ['/api/nothing', '/.well-known/x', '/graphql/x']) {
        expectRefusal(path, await nobody.call('GET', path, undefined, HTML), 401, 'auth.api_key.missing');
      }
      expectRefusal('/mcp', await nobody.call('GET', '/mcp', undefined, HTML), 405, 'request.method_not_allowed');
      expectRefusal('/mcp', await nobody.call('POST', '/mcp', {}, HTML), 401, 'auth.api_key.missing');
      expectRefusal('a program', await nobody.call('GET', '/pipelines'), 401, 'auth.api_key.missing');
    });

    it('holds a person with a one-time password at the page that changes it', async () => {
      await addPerson(deployment, 'newcomer', { memberships: { default: {} }, mustChangePassword: true });
      const newcomer = await signIn(deployment, 'newcomer');
      const page = await newcomer.call('GET', '/pipelines', undefined, HTML);
      expect([page.status, page.headers.get('Location')]).toEqual([302, '/settings/password']);
      expect((await newcomer.call('GET', '/settings/password', undefined, HTML)).status).toBe(200);
      expect((await newcomer.call('GET', '/api/v1/auth/me')).status).toBe(200);
      for (const [method, path] of [['GET', '/api/v1/pipelines'], ['POST', '/graphql'], ['GET', '/api/v1/auth/sessions']] as const) {
        const answer = await newcomer.call(method, path, method === 'POST' ? {} : undefined);
        expectRefusal(path, answer, 403, 'auth.password.change_required');
      }
    }); // prettier-ignore

    it('gives a browser the console at its addresses, the same page with 404 elsewhere, and programs JSON', async () => {
      await addPerson(deployment, 'visitor', { memberships: { default: {} } });
      const visitor = await signIn(deployment, 'visitor');
      const shell = await visitor.call('GET', '/w/default/pipelines', undefined, HTML);
      expect([shell.status, shell.headers.get('Cache-Control')]).toEqual([200, 'no-cache']);
      const etag = shell.headers.get('ETag')!;
      const known = { headers: { ...HTML.headers, 'If-None-Match': etag } };
      expect((await visitor.call('GET', '/w/default/pipelines', undefined, known)).status).toBe(304);
      const lost = await visitor.call('GET', '/nowhere', undefined, HTML);
      expect([lost.status, lost.headers.get('ETag'), lost.text]).toEqual([404, etag, shell.text]);
      for (const path of ['/promotion/x', '/workspace/x', '/assets/x.js', '/docs/x', '/api/x.html'])
        expectRefusal(path, await visitor.call('GET', path, undefined, HTML), 404, 'request.not_found');
      expectRefusal('a program', await visitor.call('GET', '/w/default'), 404, 'request.not_found');
      const stranger = await nobody.call('GET', '/w/default?q=1', undefined, HTML);
      expect([stranger.status, stranger.headers.get('Location')]).toEqual([302, '/login?return_to=%2Fw%2Fdefault%3Fq%3D1']);
    }); // prettier-ignore

    it('has a page of all errors with an anchor for every doc_url', async () => {
      const answer = await nobody.call('GET', '/docs/errors', undefined, HTML);
      expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
      for (const code of ['request.not_found', 'auth.csrf.invalid', 'internal'])
        expect(answer.text).toContain(`id="${code}"`);
      expectRefusal(
        'another page',
        await nobody.call('GET', '/docs/nothing', undefined, HTML),
        404,
        'request.not_found',
      );
    });

    it('signs in from a plain form, and tells the page what was wrong', async () => {
      await addPerson(deployment, 'plain', { memberships: { default: {} } });
      const browser = new ApiClient(baseUrl);
      await browser.call('GET', '/login');
      const send = (fields: Record<string, string>) =>
        browser.call('POST', '/login', undefined, {
          raw: new URLSearchParams(fields).toString(),
          headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        });
      const wrong = await send({ email: emailOf('plain'), password: 'wrong' });
      expect([wrong.status, wrong.headers.get('Location')]).toEqual([302, '/login?error=credentials']);
      const right = await send({ email: emailOf('plain'), password: PASSWORD });
      expect([right.status, right.headers.get('Location')]).toEqual([302, '/']);
      expect((await browser.call('GET', '/api/v1/auth/me')).status).toBe(200);
      for (const [state, word] of [
        [`locked_until = NOW() + INTERVAL '1 hour'`, 'locked'],
        ['locked_until = NULL, is_active = FALSE', 'inactive'],
      ]) {
        await deployment.metadata(`UPDATE users SET ${state}, updated_at = NOW() WHERE email = $1`, [emailOf('plain')]);
        const shut = await send({ email: emailOf('plain'), password: PASSWORD });
        expect([shut.status, shut.headers.get('Location')]).toEqual([302, `/login?error=${word}`]);
      }
    });
  });

  it('locks an account after five wrong passwords, for the right one too, and for nobody else', async () => {
    await addPerson(deployment, 'target', { memberships: { default: {} } });
    await addPerson(deployment, 'bystander', { memberships: { default: {} } });
    const attacker = new ApiClient(baseUrl);
    await attacker.call('GET', '/login');
    const attempt = (password: string, email = emailOf('target')) =>
      attacker.call('POST', '/login', { email, password });
    for (let count = 0; count < 5; count++)
      expectRefusal(`${count}`, await attempt('wrong'), 401, 'auth.login.bad_credentials');
    expectRefusal('the right one', await attempt(PASSWORD), 403, 'auth.login.locked');
    const [row] = await deployment.metadata<{ failed: number }>(
      'SELECT failed_login_count AS failed FROM users WHERE email = $1', [emailOf('target')],
    ); // prettier-ignore
    expect(Number(row?.failed)).toBe(5);
    const unknown = await attempt('wrong', 'who@example.org');
    expectRefusal('unknown', unknown, 401, 'auth.login.bad_credentials');
    expect((await attempt(PASSWORD, emailOf('bystander'))).status).toBe(200);
  });
});
