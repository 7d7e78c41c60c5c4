import { describe, expect, it } from '@jest/globals';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { callApp } from '../../../test/fixtures/serve-app.js';
import { isPenstockError, Logger, newId, SilentLogger, type LogFields, type Principal } from '#libs/kernel';
import { MemoryTransientStore, TransientUnavailable } from '#libs/transient';
import { RateLimiter } from './rate-limit.js';
import { classifyPath } from './raw-path.js';
import { attachContext } from './request-context.js';

const LIMITS = { perSecond: 1000, perMinute: 3, unauthenticatedPerMinute: 2, loginPerMinute: 2 };
const down = { hit: () => Promise.reject(new TransientUnavailable()) };

class Warnings extends Logger {
  readonly said: string[] = [];
  override warn(message: string): void {
    this.said.push(message);
  }
  override debug(): void {}
  override info(): void {}
  override error(): void {}
  override child(_name: string, _fields?: LogFields): Logger {
    return this;
  }
}

/** An application with the limiter alone; the caller and the address come in headers of the test's own. */
function limited(limiter: RateLimiter): Express {
  const app = express();
  app.use((request: Request, _response: Response, next: NextFunction) => {
    const userId = request.get('Test-User');
    attachContext(request, {
      correlationId: newId(),
      path: classifyPath(request.originalUrl),
      sourceIp: request.get('Test-Address') ?? '192.0.2.1',
      userAgent: undefined,
      ...(userId === undefined ? {} : { principal: { userId } as Principal }),
    });
    next();
  });
  app.use(limiter.damper(), limiter.perPrincipal());
  app.use((_request, response) => void response.end());
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    if (!isPenstockError(error)) return void response.status(500).end();
    response.status(error.status).json({ code: error.code, details: error.details });
  });
  return app;
}

const store = () => new MemoryTransientStore({ maxBytes: 1_000_000 });

describe('the limits of requests', () => {
  it('count per user over all doors, and tell the tighter window', async () => {
    const app = limited(new RateLimiter(store(), LIMITS, new SilentLogger()));
    const call = (user: string, path = '/api/v1/x') => callApp(app, 'GET', path, { 'Test-User': user });
    const first = await call('a');
    expect([first.headers.get('ratelimit-limit'), first.headers.get('ratelimit-remaining')]).toEqual(['3', '2']);
    expect(Number(first.headers.get('ratelimit-reset'))).toBeGreaterThan(Date.now() / 1000 - 1);
    await call('a', '/graphql');
    await call('a', '/api/x/y');
    const over = await call('a');
    expect([over.status, JSON.parse(over.text).code, JSON.parse(over.text).details]).toEqual([429, 'rate_limit.exceeded', expect.objectContaining({ limit: 3, window: 'minute' })]);
    expect([over.headers.get('ratelimit-remaining'), over.body.details.retry_after_seconds >= 1]).toEqual(['0', true]);
    expect((await call('b')).status).toBe(200);
  }); // prettier-ignore

  it('count strangers per address, one /64 as one', async () => {
    const app = limited(new RateLimiter(store(), LIMITS, new SilentLogger()));
    const call = (address: string) => callApp(app, 'GET', '/api/v1/x', { 'Test-Address': address });
    const statuses = [];
    for (const address of ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::1']) statuses.push((await call(address)).status);
    expect(statuses).toEqual([200, 200, 429, 200]);
  }); // prettier-ignore

  it('exempt probes, files and documents, even while the store is down', async () => {
    const app = limited(new RateLimiter(down, LIMITS, new SilentLogger()));
    for (const path of ['/health', '/ready', '/info', '/assets/x', '/docs/errors', '/']) expect([path, (await callApp(app, 'GET', path)).status]).toEqual([path, 200]);
  }); // prettier-ignore

  it('fail closed while the store is down, with one warning an outage', async () => {
    const log = new Warnings();
    const working = store();
    let current: Pick<MemoryTransientStore, 'hit'> = down;
    const app = limited(new RateLimiter({ hit: (...call) => current.hit(...call) }, LIMITS, log));
    for (let count = 0; count < 3; count++) {
      const answer = await callApp(app, 'GET', '/api/v1/x', { 'Test-User': 'a' });
      expect([answer.status, JSON.parse(answer.text)]).toEqual([429, { code: 'rate_limit.unavailable', details: { retry_after_seconds: 1 } }]);
    }
    expect(log.said).toHaveLength(1);
    current = working;
    expect((await callApp(app, 'GET', '/api/v1/x', { 'Test-User': 'a' })).status).toBe(200);
    current = down;
    await callApp(app, 'GET', '/api/v1/x', { 'Test-User': 'a' });
    expect(log.said).toHaveLength(2);
  }); // prettier-ignore

  it('let people sign in while the store is down, within the same numbers', async () => {
    const app = limited(new RateLimiter(down, { ...LIMITS, unauthenticatedPerMinute: 100 }, new SilentLogger()));
    const statuses = async (method: string, path: string, address: string) => {
      const seen = [];
      for (let n = 0; n < 3; n++) seen.push((await callApp(app, method, path, { 'Test-Address': address })).status);
      return seen;
    };
    expect(await statuses('POST', '/login', '192.0.2.1')).toEqual([200, 200, 429]);
    expect(await statuses('GET', '/oauth2/authorization/acme', '192.0.2.2')).toEqual([200, 200, 429]);
    expect(await statuses('GET', '/login/oauth2/code/acme', '192.0.2.3')).toEqual([200, 200, 429]);
    expect(await statuses('GET', '/login', '192.0.2.4')).toEqual([200, 200, 429]);
    expect(await statuses('POST', '/api/v1/auth/password-reset/request', '192.0.2.6')).toEqual([200, 200, 429]);
    expect(await statuses('GET', '/api/v1/auth/providers', '192.0.2.7')).not.toContain(200);
    expect(await statuses('GET', '/api/v1/x', '192.0.2.5')).toEqual([429, 429, 429]);
  });

  it('damp sign-ins per address, by a count of its own while the store is down', async () => {
    for (const hits of [store(), down]) {
      const limiter = new RateLimiter(hits, LIMITS, new SilentLogger());
      const damper = limiter.damper();
      const attempt = async (sourceIp: string): Promise<string> => {
        const call = { method: 'POST' } as Request;
        attachContext(call, { correlationId: 'c', path: classifyPath('/login'), sourceIp, userAgent: undefined });
        const response = { setHeader: () => response } as unknown as Response;
        try {
          await damper(call, response, () => undefined);
          return 'passed';
        } catch (error) {
          return isPenstockError(error) ? error.code : String(error);
        }
      };
      const outcomes = [];
      for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2']) outcomes.push(await attempt(address));
      expect(outcomes).toEqual(['passed', 'passed', 'rate_limit.exceeded', 'passed']);
    }
  });

  it('damp sign-ins of one network over all instances together', async () => {
    const shared = store();
    const apps = [1, 2].map(() => limited(new RateLimiter(shared, LIMITS, new SilentLogger())));
    const statuses = [];
    for (const [at, address] of ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::1'].entries())
      statuses.push((await callApp(apps[at % 2]!, 'POST', '/login', { 'Test-Address': address })).status);
    expect(statuses).toEqual([200, 200, 429, 200]);
  });
});
