import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Step {
  request: { method?: string; path: string };
  expect: { status?: number };
}

/** Documented routes that no vector can bring to a success on any server, and why. */
const BEYOND_ANY_SERVER: Readonly<Record<string, string>> = {
  'GET /oauth2/authorization/{provider}': 'needs an identity provider that the server knows',
  'GET /login/oauth2/code/{provider}': 'needs an identity provider that the server knows',
  'POST /api/v1/auth/password-reset/request': 'is there only where the server sends mail',
  'POST /api/v1/auth/password-reset/confirm': 'needs the token of a mail',
  'GET /api/v1/datasources/{name}/lake-tables': 'needs a lake, which lies in an object store',
  'POST /api/v1/datasources/{name}/tables': 'needs a lake, which lies in an object store',
  'POST /api/v1/datasources/{name}/tables/import': 'needs a lake, which lies in an object store',
  'DELETE /api/v1/datasources/{name}/tables/{namespace}/{table}': 'needs a lake, which lies in an object store',
  'GET /api/v1/promotion/inventory': 'needs a server key, which only promotion is reached with',
  'POST /api/v1/promotion/push': 'needs what another deployment promotes',
  'GET /promotion': 'needs a second deployment as target',
  'POST /promotion/promote': 'needs a second deployment as target',
};

const folder = import.meta.dirname;
const read = <T>(...path: string[]): T => JSON.parse(readFileSync(join(folder, ...path), 'utf8')) as T;

function documentedRoutes(): string[] {
  const { paths } = read<{ paths: Record<string, Record<string, unknown>> }>('../../../docs/generated/openapi.json');
  const verbs = new Set(['get', 'put', 'post', 'patch', 'delete']);
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((verb) => verbs.has(verb))
      .map((verb) => `${verb.toUpperCase()} ${path}`),
  );
}

function steps(): Step[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  const beginnings = readdirSync(join(folder, 'beginnings')).map((file) => read<{ steps: Step[] }>('beginnings', file));
  const scenarios = files.flatMap((file) => read<{ scenarios: { steps: Step[] }[] }>(file).scenarios);
  return [...scenarios, ...beginnings].flatMap((each) => each.steps);
}

/** The documented route a request is for; of several, the one with the fewest variables. */
function routeOf({ method = 'GET', path }: Step['request'], routes: readonly string[]): string | undefined {
  const asked = `${method} ${path.split('?')[0]}`;
  const fits = (route: string): boolean => {
    const pattern = route.replace('/api/x/{path}', '/api/x/.+').replace(/\{\w+\}/g, '[^/]+');
    return new RegExp(`^${pattern}$`).test(asked);
  };
  const variables = (route: string): number => route.split('{').length;
  return routes.filter(fits).sort((a, b) => variables(a) - variables(b))[0];
}

describe('the vectors of HTTP', () => {
  const routes = documentedRoutes();
  const succeeding = new Set(
    steps()
      .filter(({ expect: { status = 0 } }) => status >= 200 && status < 400)
      .map(({ request }) => routeOf(request, routes)),
  );

  it('bring every documented route to a success, or say why none can', () => {
    const forgotten = routes.filter((route) => !succeeding.has(route) && !BEYOND_ANY_SERVER[route]);
    expect(forgotten).toEqual([]);
  });

  it('except no route that they do reach', () => {
    expect(Object.keys(BEYOND_ANY_SERVER).filter((route) => succeeding.has(route))).toEqual([]);
  });

  it('know the routes apart', () => {
    expect(routes.length).toBeGreaterThan(100);
    expect(routeOf({ path: '/api/v1/endpoints/bindings' }, routes)).toBe('GET /api/v1/endpoints/bindings');
    expect(routeOf({ path: '/api/v1/templates/versions?name=a' }, routes)).toBe('GET /api/v1/templates/versions');
    expect(routeOf({ method: 'PUT', path: '/api/v1/auth/me' }, routes)).toBeUndefined();
  });
});
