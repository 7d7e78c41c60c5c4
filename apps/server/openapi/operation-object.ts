import type { ZodType } from 'zod';
import { catalogueEntry, type ErrorCode } from '#libs/kernel';
import type { Answer, DescribedRoute } from '../http/describe.decorator.js';
import type { HandlerRoute } from '../http/routes-of.js';
import type { JsonSchema, SchemaWriter } from './json-schema.js';
import { headerParameters, type Parameter } from './parameters.js';
import { operationOf, sharedRefusals } from './shared-refusals.js';

export type DescribedHandler = HandlerRoute & { description: DescribedRoute };

/** An Operation Object of OpenAPI 3.1. */
export function operationObject(route: DescribedHandler, schemas: SchemaWriter): JsonSchema {
  const { description, operation, handler } = route;
  const { body } = description;
  return {
    operationId: operationId(handler),
    tags: [tagOf(route.path)],
    summary: description.summary,
    'x-penstock-operation': operation,
    ...permission(route),
    security: security(route),
    parameters: parametersOf(route, schemas),
    ...(body ? { requestBody: requestBody(body, schemas) } : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(description.answers).map(([status, answer]) => [status, success(answer, schemas)]),
      ),
      ...refusals([...description.errors, ...sharedRefusals(route)]),
    },
  };
}

/** `PipelinesController.create` is `pipelines.create`. */
export function operationId(handler: string): string {
  const [controller = '', method = ''] = handler.split('.');
  const family = controller.replace(/Controller$/, '');
  return `${family.charAt(0).toLowerCase()}${family.slice(1)}.${method}`;
}

export function tagOf(path: string): string {
  const [first = '', second = '', third = ''] = path.split('/').filter((part) => part !== '');
  if (first !== 'api')
    return ['login', 'logout', 'oauth2', 'settings', 'workspace'].includes(first) ? 'session' : first || 'pages';
  return second === 'x' ? 'published endpoints' : third || 'api';
}

/** Who may call it, for the reader: the row of the operations table. */
function permission(route: HandlerRoute): JsonSchema {
  const row = operationOf(route);
  if (!row) return { description: 'Public: no credential is asked for.' };
  const { credentials, capability } = row;
  const means = [
    ...(credentials.session ? ['a session'] : []),
    ...(credentials.user ? [`an API key with the scope \`${credentials.user}\``] : []),
    ...(credentials.endpoint ? ['an endpoint key'] : []),
    ...(credentials.server ? ['a server key'] : []),
  ];
  return {
    description: `Operation \`${route.operation}\`: ${means.join(' or ')}; capability \`${capability}\`.`,
    'x-penstock-capability': capability,
  };
}

function security(route: HandlerRoute): JsonSchema[] {
  const row = operationOf(route);
  if (!row) return [];
  const { credentials } = row;
  return [
    ...(credentials.session ? [{ session: [] }] : []),
    ...(credentials.user || credentials.endpoint ? [{ apiKey: [] }] : []),
    ...(credentials.server ? [{ promotionKey: [] }] : []),
  ];
}

function parametersOf({ path, method, description, ...route }: DescribedHandler, schemas: SchemaWriter): Parameter[] {
  const names = [...path.matchAll(/:(\w+)|\{\*(\w+)\}/g)].map(([, name, rest]) => name ?? rest ?? '');
  const unsafe = method !== 'GET' && (operationOf({ path, method, ...route })?.credentials.session ?? false);
  return [
    ...names.map((name): Parameter => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...Object.entries(description.query ?? {}).map(([name, shape]) => queryParameter(name, shape, schemas)),
    ...headerParameters(description.headers ?? [], { unsafe }),
  ];
}

function queryParameter(name: string, shape: ZodType, schemas: SchemaWriter): Parameter {
  const { description, ...schema } = schemas.request(shape);
  return {
    name,
    in: 'query',
    required: !shape.safeParse(undefined).success,
    ...(typeof description === 'string' ? { description } : {}),
    schema,
  };
}

function requestBody(shape: ZodType, schemas: SchemaWriter): JsonSchema {
  return {
    required: !shape.safeParse(undefined).success,
    content: { 'application/json': { schema: schemas.request(shape) } },
  };
}

function success(answer: Answer, schemas: SchemaWriter): JsonSchema {
  if (!('media' in answer)) {
    const data = schemas.answer(answer);
    const members = { schema_version: { const: 1 }, correlation_id: { type: 'string', format: 'uuid' }, data };
    const schema = { type: 'object', required: ['schema_version', 'correlation_id', 'data'], properties: members };
    return { description: 'Done.', content: { 'application/json': { schema } } };
  }
  const { media, about, schema, location } = answer;
  return {
    description: about,
    ...(location ? { headers: { Location: { $ref: '#/components/headers/Location' } } } : {}),
    ...(media ? { content: { [media]: schema ? { schema: schemas.answer(schema) } : {} } } : {}),
  };
}

/** One response per status, with the codes it may carry: what each means is told once, under `/docs/errors`. */
export function refusals(codes: readonly ErrorCode[]): Record<string, JsonSchema> {
  const byStatus = new Map<number, Set<ErrorCode>>();
  for (const code of codes) {
    const { status, alternateStatus } = catalogueEntry(code);
    for (const each of [status ?? 500, alternateStatus]) {
      if (each != null) byStatus.set(each, (byStatus.get(each) ?? new Set()).add(code));
    }
  }
  const sorted = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    sorted.map(([status, found]) => [
      String(status),
      { $ref: '#/components/responses/Refusal', description: [...found].map((code) => `\`${code}\``).join(', ') },
    ]),
  );
}

/** What refusals and redirections refer to, in every document. */
export const SHARED_COMPONENTS: JsonSchema = {
  responses: {
    Refusal: {
      description: 'Refused.',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    },
  },
  headers: { Location: { description: 'Where to go on.', schema: { type: 'string', format: 'uri-reference' } } },
};
