import type { HandlerRoute } from '../http/routes-of.js';
import { SchemaWriter, type JsonSchema } from './json-schema.js';
import { operationObject, SHARED_COMPONENTS, tagOf, type DescribedHandler } from './operation-object.js';
import { errorEnvelope } from './shapes/envelope.js';

/** What OpenAPI knows no path item for. */
const NO_PATHS = /^\/graphql/;

/**
 * The OpenAPI 3.1 document of everything this process answers (03 §8), from the routes, their operations, the shapes they
 * parse by and the error catalogue. Nothing of it is written twice.
 */
export function openapiDocument(routes: readonly HandlerRoute[], version: string): JsonSchema {
  const schemas = new SchemaWriter();
  const described = routes.filter(isDescribed).filter(({ path }) => !NO_PATHS.test(path));
  const paths: Record<string, JsonSchema> = {};
  for (const route of [...described].sort((a, b) => compare(a.path, b.path))) {
    const path = route.path.replace(/:(\w+)|\{\*(\w+)\}/g, (_all, name?: string, rest?: string) => `{${name ?? rest}}`);
    const method = route.method === 'ALL' ? 'get' : route.method.toLowerCase();
    paths[path] = { ...paths[path], [method]: operationObject(route, schemas) };
  }
  const error = schemas.answer(errorEnvelope);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Penstock',
      version,
      summary: 'Governed data pipelines: author, release, run, watch, read, publish.',
      description: ABOUT,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Relative to where the document was fetched: right behind every proxy.
    servers: [{ url: '/' }],
    tags: [...new Set(described.map(({ path }) => tagOf(path)))].sort(compare).map((name) => ({ name })),
    paths,
    components: {
      schemas: { ...Object.fromEntries([...schemas.components].sort(([a], [b]) => compare(a, b))), Error: error },
      ...SHARED_COMPONENTS,
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'dp_session',
          description: 'Set by `POST /login`; `__Host-dp_session` over https.',
        },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'DP-API-Key',
          description: 'Made under `POST /api/v1/auth/api-keys`.',
        },
        promotionKey: {
          type: 'apiKey',
          in: 'header',
          name: 'DP-Promotion-Key',
          description: 'A server key of this deployment.',
        },
      },
    },
  };
}

const ABOUT = [
  'Answers stand in `{schema_version, correlation_id, data}`; refusals in `{schema_version, correlation_id, error}`, whose',
  '`code` decides the status and whose `doc_url` tells how to mend it. BIGINTEGER and BIGDECIMAL are strings, times are',
  'RFC 3339 in UTC. Every answer names its request in `DP-Correlation-Id`. Lists are paged by `offset` and `limit`, clamped to their bounds. Fields you do not know may come:',
  'ignore them.',
].join(' ');

function isDescribed(route: HandlerRoute): route is DescribedHandler {
  return route.description !== undefined;
}

/** By code unit: the same on every machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
