import { describe, expect, it } from '@jest/globals';
import { All, Controller, Get, Post } from '@nestjs/common';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { callApp } from '../../../test/fixtures/serve-app.js';
import type { Admission } from '#libs/identity';
import { isPenstockError, newId, PenstockError, type Principal } from '#libs/kernel';
import { directRoute } from './direct-route.js';
import { Operation } from './operation.decorator.js';
import { classifyPath } from './raw-path.js';
import { attachContext, contextOf } from './request-context.js';
import { templateOf } from './request-metrics.js';

const CALLER = { userId: 'somebody' } as Principal;

@Controller('/api/x')
class Tree {
  @All('{*path}')
  @Operation('endpoint.serve')
  answer(request: Request, response: Response): Promise<void> {
    if (request.query['refuse'] !== undefined) throw new PenstockError('endpoint.not_found');
    response.end(`${templateOf(request)} ${String(request.body)}`);
    return Promise.resolve();
  }
}

@Controller('/graphql')
class Door {
  @Post()
  @Operation('reference.read')
  run(request: Request, response: Response): Promise<void> {
    response.json(request.body);
    return Promise.resolve();
  }

  @Get()
  @Operation('public')
  page(_request: Request, response: Response): Promise<void> {
    response.end('page');
    return Promise.resolve();
  }
}

/** The handlers ahead of a router that answers everything itself, and what they told the trail of access. */
function ahead(caller: Principal | undefined, refused?: PenstockError): { app: Express; told: string[] } {
  const told: string[] = [];
  const admission: Pick<Admission, 'admit' | 'carryOut'> = {
    admit(principal, operation, { path, method } = {}) {
      told.push(`${principal.userId} ${operation} ${method} ${path}`);
      return refused ? Promise.reject(refused) : Promise.resolve(undefined);
    },
    async carryOut(_principal, operation, work) {
      try {
        return await work();
      } catch (error) {
        told.push(`${operation} ${isPenstockError(error) ? error.code : 'unknown'}`);
        throw error;
      }
    },
  };
  const parts = { admission, limits: { request: 100, import: 100, graphql: 100 } };
  const app = express();
  app.use((request: Request, _response: Response, next: NextFunction) => {
    const path = classifyPath(request.originalUrl);
    attachContext(request, { correlationId: newId(), path, sourceIp: '192.0.2.1', userAgent: undefined });
    if (caller) contextOf(request).principal = caller;
    next();
  });
  app.use(directRoute({ controller: new Tree(), handler: 'answer', pathClass: 'endpoint' }, parts));
  app.use(directRoute({ controller: new Door(), handler: 'run', pathClass: 'graphql' }, parts));
  app.use((_request: Request, response: Response) => void response.end('router'));
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    if (!isPenstockError(error)) return void response.status(500).end();
    response.status(error.status).end(error.code);
  });
  return { app, told };
}

describe('a handler ahead of the router', () => {
  it('answers behind the guard of its operation, under the name its route has in metrics', async () => {
    const { app, told } = ahead(CALLER);
    const answer = await callApp(app, 'GET', '/api/x/a/b?q=1');
    expect([answer.status, answer.text]).toEqual([200, '/api/x/{*path} undefined']);
    expect(told).toEqual(['somebody endpoint.serve GET /api/x/a/b']);
  });

  it('is not reached where the operation is refused', async () => {
    const { app } = ahead(CALLER, new PenstockError('auth.scope.insufficient'));
    expect((await callApp(app, 'GET', '/api/x/a')).text).toBe('auth.scope.insufficient');
  });

  it('leaves what it refuses itself in the trail', async () => {
    const { app, told } = ahead(CALLER);
    expect((await callApp(app, 'GET', '/api/x/a?refuse')).text).toBe('endpoint.not_found');
    expect(told.at(-1)).toBe('endpoint.serve endpoint.not_found');
  });

  it('is no way around the question who is there', async () => {
    expect((await callApp(ahead(undefined).app, 'GET', '/api/x/a')).text).toBe('auth.api_key.missing');
  });

  it('reads the body behind the guard and within its limit', async () => {
    const { app, told } = ahead(CALLER);
    const json = { 'Content-Type': 'application/json' };
    const post = (raw: string) => callApp(app, 'POST', '/graphql', json, { raw });
    expect((await post('{"query":"{ a }"}')).text).toBe('{"query":"{ a }"}');
    expect((await post('{"query":')).status).toBe(400);
    expect((await post(`{"query":"${'x'.repeat(100)}"}`)).status).toBe(413);
    expect(told).toHaveLength(5);
  });

  it.each([
    ['GET', '/graphql'],
    ['POST', '/graphql/stream'],
    ['GET', '/api/x'],
    ['GET', '/api/v1/x/'],
  ])('leaves %s %s to the router', async (method, path) => {
    const { app, told } = ahead(CALLER);
    expect((await callApp(app, method, path)).text).toBe('router');
    expect(told).toEqual([]);
  });

  it('is refused at the start for a handler that is open to strangers: the guard would ask for a caller', () => {
    const parts = { admission: {} as Admission, limits: { request: 1, import: 1, graphql: 1 } };
    expect(() => directRoute({ controller: new Door(), handler: 'page', pathClass: 'graphql' }, parts)).toThrow(
      'Door.page',
    );
  });
});
