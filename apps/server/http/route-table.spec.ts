import { describe, expect, it } from '@jest/globals';
import { RouteTable } from './route-table.js';

const routes = new RouteTable();
routes.set([
  { method: 'GET', path: '/api/v1/pipelines' },
  { method: 'POST', path: '/api/v1/pipelines' },
  { method: 'POST', path: '/api/v1/pipelines/validate' },
  { method: 'GET', path: '/api/v1/pipelines/:id' },
  { method: 'DELETE', path: '/api/v1/pipelines/:id' },
  { method: 'POST', path: '/a.b' },
  { method: 'ALL', path: '/api/x/{*path}' },
]);

describe('the table of routes', () => {
  it.each([
    ['/api/v1/pipelines', ['GET', 'POST', 'HEAD', 'OPTIONS']],
    ['/api/v1/pipelines/x', ['GET', 'DELETE', 'HEAD', 'OPTIONS']],
    ['/api/v1/pipelines/validate', ['POST', 'GET', 'DELETE', 'HEAD', 'OPTIONS']],
    ['/a.b', ['POST', 'OPTIONS']],
    ['/api/x/', ['GET', 'OPTIONS']],
    ['/api/x/a/b', ['GET', 'OPTIONS']],
    ['/aXb', undefined],
    ['/api/v1/pipelines/', undefined],
    ['/api/v1/pipelines/x/y', undefined],
    ['/API/v1/pipelines', undefined],
    ['/api/x', undefined],
    ['/', undefined],
  ])('%s answers %p', (path, expected) => {
    expect(routes.allowed(path)).toEqual(expected);
  });

  it('tells a wrong verb from a path where nothing is', () => {
    expect(routes.refusal('/a.b')).toMatchObject({ allow: ['POST', 'OPTIONS'], error: { code: 'request.method_not_allowed' } });
    expect(routes.refusal('/none')).toMatchObject({ error: { code: 'request.not_found' } });
    expect(routes.refusal('/none').allow).toBeUndefined();
  }); // prettier-ignore

  it('knows nothing before the routes are set, so that an early request is not told of verbs', () => {
    expect(new RouteTable().allowed('/')).toBeUndefined();
  });
});
