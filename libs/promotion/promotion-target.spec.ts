import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FalseTarget } from '../../test/fixtures/false-target.js';
import { EgressPolicy, egressRules } from '#libs/egress';
import { isPenstockError, loadConfiguration, type Configuration, type Principal } from '#libs/kernel';
import { keyFingerprint } from './key-fingerprint.js';
import { PromotionSettings } from './promotion-settings.js';
import { PromotionTarget } from './promotion-target.js';

const KEY = 'a-key-of-the-target-0123456789-abcdef';
const caller = { correlationId: '11111111-1111-4111-8111-111111111111' } as Principal;
const secret = Buffer.alloc(32, 1).toString('base64');

let impostor: FalseTarget;
let baseUrl: string;

beforeAll(async () => {
  impostor = new FalseTarget();
  baseUrl = await impostor.listen();
});
afterEach(() => {
  impostor.heard = 0;
});
afterAll(() => impostor.close());

function configured(env: Record<string, string> = {}): Configuration {
  return loadConfiguration({
    DATABASE_URL: 'postgres://app:pass@192.0.2.1/app',
    REDIS_URL: 'redis://192.0.2.2',
    DATAPIPELINES_DB_ENCRYPTION_KEY: secret,
    DATAPIPELINES_JWT_SECRET: secret,
    DATAPIPELINES_AUTH_LOCAL_ENABLED: 'true',
    DATAPIPELINES_DEPLOYMENT_PROMOTION_TARGET_BASE_URL: baseUrl,
    DATAPIPELINES_DEPLOYMENT_PROMOTION_TARGET_SERVER_KEY: KEY,
    DATAPIPELINES_DEPLOYMENT_PROMOTION_TIMEOUT_SECONDS: '1',
    DATAPIPELINES_LIMITS_MAX_IMPORT_BYTES: '65536',
    ...env,
  });
}

function target(env?: Record<string, string>): PromotionTarget {
  const configuration = configured(env);
  return new PromotionTarget(new EgressPolicy(egressRules(configuration)), new PromotionSettings(configuration));
}

async function refusal(work: Promise<unknown>): Promise<unknown[]> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isPenstockError(error)) throw new Error(`expected a refusal, not ${String(error)}`);
  return [error.status, error.code, error.details['reason']];
}

const UNREACHABLE = 'pipeline.promotion.target_unreachable';

describe('what answers at the address of a target', () => {
  it.each<[what: string, status: number, text: string, headers: Record<string, string>, reason: string]>([
    ['a page', 200, '<html>welcome</html>', { 'Content-Type': 'text/html' }, 'not_penstock'],
    ['nothing', 200, '', {}, 'not_penstock'],
    ['another JSON', 200, '{"hello":"world"}', {}, 'not_penstock'],
    ['a number', 200, '7', {}, 'not_penstock'],
    ['half an inventory', 200, '{"data":{"deployment":"x","pipelines":[{"name":1}]}}', {}, 'not_penstock'],
    ['a redirect', 302, '', { Location: 'http://169.254.169.254/' }, 'redirect'],
    ['an error of a proxy', 503, '<h1>Bad gateway</h1>', {}, 'not_penstock'],
    ['an error that is nobody’s', 400, '{"error":{"code":"no.such.code"}}', {}, 'target_failed'],
    ['an error without a code', 400, '{"error":"bad"}', {}, 'not_penstock'],
    ['a failure', 500, '{"correlation_id":"abc","error":{"code":"internal","message":"x"}}', {}, 'target_failed'],
    ['a server that is going down', 503, '{"error":{"code":"server.draining"}}', {}, 'target_failed'],
    ['more than anybody reads', 200, `{"data":"${'x'.repeat(100_000)}"}`, {}, 'too_large'],
  ])('%s is no target, and is told why', async (_what, status, text, headers, reason) => {
    impostor.says(status, text, headers);
    expect(await refusal(target().inventory(caller, 'default'))).toEqual([502, UNREACHABLE, reason]);
    expect(impostor.heard).toBe(1);
  });

  it.each([
    [404, 'request.not_found'],
    [429, 'rate_limit.exceeded'],
    [401, 'auth.session.expired'],
    [403, 'auth.scope.insufficient'],
  ])('a %i %s is about the request between the two, and never told as ours', async (status, code) => {
    impostor.says(status, JSON.stringify({ error: { code, message: 'x' } }));
    const error = await target()
      .inventory(caller, 'default')
      .catch((thrown: unknown) => thrown);
    const details = { reason: 'target_failed', target_code: code, status };
    expect(error).toMatchObject({ code: UNREACHABLE, status: 502, details });
  });

  it('a key that is not accepted there keeps its code: it is to be replaced here', async () => {
    impostor.says(401, JSON.stringify({ error: { code: 'auth.promotion.key_invalid', message: 'x' } }));
    expect(await refusal(target().inventory(caller, 'default'))).toEqual([
      401,
      'auth.promotion.key_invalid',
      undefined,
    ]);
  });

  it('a silence is given up in time', async () => {
    impostor.answer = () => undefined;
    expect(await refusal(target().inventory(caller, 'default'))).toEqual([502, UNREACHABLE, 'timeout']);
  });

  it('a caller who leaves is not kept waiting', async () => {
    impostor.answer = () => undefined;
    const gone = new AbortController();
    const asked = target()
      .inventory(caller, 'default', gone.signal)
      .catch((thrown: unknown) => thrown);
    gone.abort();
    // Whoever left is not told, nor written down, as a target that cannot be reached.
    expect(await asked).toBe(gone.signal.reason);
  });

  it('somebody who hangs up is no connection, and nobody is one either', async () => {
    impostor.answer = (request) => request.socket.destroy();
    expect(await refusal(target().inventory(caller, 'default'))).toEqual([502, UNREACHABLE, 'connection']);
    const nobody = target({ DATAPIPELINES_DEPLOYMENT_PROMOTION_TARGET_BASE_URL: 'http://127.0.0.1:1' });
    expect(await refusal(nobody.inventory(caller, 'default'))).toEqual([502, UNREACHABLE, 'connection']);
    const unnamed = target({ DATAPIPELINES_DEPLOYMENT_PROMOTION_TARGET_BASE_URL: 'http://no.such.host.invalid' });
    expect(await refusal(unnamed.inventory(caller, 'default'))).toEqual([502, UNREACHABLE, 'unresolved']);
  });

  it('is told with the code of the connection that failed, so that an expired certificate is not looked for in a firewall', async () => {
    const causeOf = async (there: PromotionTarget) =>
      there.inventory(caller, 'default').catch((thrown: unknown) => isPenstockError(thrown) && thrown.details);
    const at = (url: string) => target({ DATAPIPELINES_DEPLOYMENT_PROMOTION_TARGET_BASE_URL: url });
    expect(await causeOf(at('http://127.0.0.1:1'))).toEqual({ reason: 'connection', cause_code: 'ECONNREFUSED' });
    impostor.answer = (request) => request.socket.destroy();
    expect(await causeOf(target())).toEqual({ reason: 'connection', cause_code: 'ECONNRESET' });
    const noTls = await causeOf(at(baseUrl.replace('http:', 'https:')));
    expect(noTls).toMatchObject({ reason: 'connection', cause_code: expect.stringMatching(/^E(?:RR_SSL|PROTO)/) });
  });

  it.each([
    ['a fault of ours', new TypeError('undefined is no function')],
    ['an argument that Node refuses', Object.assign(new TypeError('bad'), { code: 'ERR_INVALID_CHAR' })],
    ['an error that names nothing', new Error('what?')],
  ])('%s is never laid at the door of the target', async (_what, fault) => {
    const policy = new EgressPolicy(egressRules(configured()));
    policy.check = () => Promise.reject(fault);
    const asked = new PromotionTarget(policy, new PromotionSettings(configured())).inventory(caller, 'default');
    expect(await asked.catch((thrown: unknown) => thrown)).toBe(fault);
  });

  it('a refusal keeps its code, its status and its details, cut to one line', async () => {
    impostor.says(
      409,
      JSON.stringify({
        error: { code: 'pipeline.check.failed', message: `a\nb${'x'.repeat(900)}`, details: { checks: [] } },
      }),
    );
    const error = await target()
      .inventory(caller, 'default')
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'pipeline.check.failed', status: 409, details: { checks: [] } });
    expect((error as Error).message).toHaveLength(500);
    expect((error as Error).message).toMatch(/^a b/);
  });

  it('never gets the key into what is told here, though it repeats it', async () => {
    impostor.answer = (request, response) => {
      const key = String(request.headers['dp-promotion-key']);
      expect(key).toBe(KEY);
      const error = { code: 'workspace.not_found', message: `no ${key}`, details: { key, deeper: [key] } };
      response.writeHead(404).end(JSON.stringify({ error }));
    };
    const error = await target()
      .inventory(caller, 'default')
      .catch((thrown: unknown) => thrown);
    expect(isPenstockError(error) && error.code).toBe('workspace.not_found');
    expect(JSON.stringify([(error as Error).message, isPenstockError(error) && error.details])).not.toContain(KEY);
  });
});

describe('the address of a target', () => {
  it.each([
    ['a block that the operator denies', { DATAPIPELINES_DATASOURCES_EGRESS_DENY: '127.0.0.0/8' }],
    ['link-local', { DATAPIPELINES_DEPLOYMENT_PROMOTION_TARGET_BASE_URL: 'http://169.254.169.254' }],
    ['our own database', { DATAPIPELINES_DEPLOYMENT_PROMOTION_TARGET_BASE_URL: 'http://192.0.2.1:5432' }],
  ])('is judged by the egress policy before anything is dialled: %s', async (_what, env) => {
    const [status, code] = await refusal(target(env as Record<string, string>).inventory(caller, 'default'));
    expect([status, code, impostor.heard]).toEqual([400, 'datasource.validation.host_forbidden', 0]);
  });

  it('that is not configured is asked by nobody', async () => {
    const none = {
      DATAPIPELINES_DEPLOYMENT_PROMOTION_TARGET_BASE_URL: '',
      DATAPIPELINES_DEPLOYMENT_PROMOTION_TARGET_SERVER_KEY: '',
    };
    expect(await refusal(target(none).inventory(caller, 'default'))).toEqual([502, UNREACHABLE, 'not_configured']);
  });
});

it('sends names as they are, and who sends with the fingerprint of the key', async () => {
  const asked: string[] = [];
  impostor.answer = (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      asked.push(Buffer.concat(parts).toString());
      response.end('{"data":{"workspace":"w","templates":[],"pipelines":[],"endpoints":[]}}');
    });
  };
  const batch = { workspace: 'prod-ü & co', templates: [], pipelines: [{ name: '🚚' }], endpoints: [] };
  await target().push(caller, batch);
  expect(asked[0]).toBe('POST /api/v1/promotion/push');
  expect(JSON.parse(asked[1]!)).toEqual({ source_env: 'local', key_fingerprint: keyFingerprint(KEY), ...batch });
  await refusal(target().inventory(caller, batch.workspace));
  expect(asked[2]).toBe('GET /api/v1/promotion/inventory?workspace=prod-%C3%BC+%26+co');
});
