import { ENDPOINT_ROOT, type EndpointContract } from '#libs/endpoints';
import type { WireColumn } from '#libs/executions';
import { writeJson, type ErrorCode } from '#libs/kernel';
import type { ParameterDeclaration } from '#libs/pipelines';
import { cellSchema, valueSchema } from './column-schema.js';
import { codesBelow, RUN_FAILURES } from './error-groups.js';
import { SchemaWriter, type JsonSchema } from './json-schema.js';
import { refusals, SHARED_COMPONENTS } from './operation-object.js';
import { headerParameters, type Parameter } from './parameters.js';
import { errorEnvelope } from './shapes/envelope.js';
import { endpointAccepted } from './shapes/executions.js';

const REFUSALS: readonly ErrorCode[] = [
  'auth.api_key.missing',
  'auth.api_key.invalid',
  'auth.api_key.expired',
  'auth.scope.insufficient',
  ...codesBelow('endpoint.').filter((code) => !/path_|promotion|request\.[pv]/.test(code)),
  'rate_limit.exceeded',
  'pipeline.execution.concurrency_limit',
  'server.draining',
  ...RUN_FAILURES,
];

/** The OpenAPI 3.1 document of one published endpoint, for those who call it (03 §8). */
export function endpointDocument({ endpoint, version, parameters, columns }: EndpointContract): JsonSchema {
  const schemas = new SchemaWriter();
  const { path, pipeline_name: pipeline, path_variables: variables, description } = endpoint;
  return {
    openapi: '3.1.0',
    info: {
      title: pipeline,
      version: String(version ?? 0),
      description: description === '' ? `The rows of \`${pipeline}\`.` : description,
    },
    servers: [{ url: '/' }],
    paths: {
      [`${ENDPOINT_ROOT}${path}`]: {
        get: {
          operationId: 'call',
          summary: `Read the rows of ${pipeline}.`,
          security: [{ apiKey: [] }],
          parameters: [
            ...[...parameters].map(([name, declared]) => parameterOf(name, declared, variables.includes(name))),
            ...headerParameters(['DP-Result-TTL-Seconds', 'DP-Result-Page-Rows'], { unsafe: false }),
          ],
          responses: {
            200: {
              description: 'The first page of rows.',
              content: { 'application/json': { schema: bodyOf(columns) } },
            },
            202: {
              description: `It took longer than ${endpoint.timeout_seconds} s; the run goes on.`,
              headers: { Location: { $ref: '#/components/headers/Location' } },
              content: { 'application/json': { schema: schemas.answer(endpointAccepted) } },
            },
            ...refusals(REFUSALS),
          },
        },
      },
    },
    components: {
      ...SHARED_COMPONENTS,
      schemas: { ...Object.fromEntries(schemas.components), Error: schemas.answer(errorEnvelope) },
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'DP-API-Key' } },
    },
  };
}

function parameterOf(name: string, declared: ParameterDeclaration, inPath: boolean): Parameter {
  const { description, required } = declared;
  const about =
    description ?? (declared.default === undefined ? undefined : `Default: ${writeJson(declared.default)}.`);
  return {
    name,
    in: inPath ? 'path' : 'query',
    required: inPath || required,
    ...(about === undefined ? {} : { description: about }),
    schema: valueSchema(declared),
  };
}

/** Until a run delivered rows, nobody knows their columns. */
function bodyOf(columns: readonly WireColumn[] | undefined): JsonSchema {
  const row: JsonSchema = columns
    ? { type: 'array', prefixItems: columns.map(cellSchema), items: false, minItems: columns.length }
    : { type: 'array', description: 'The columns are known once a run delivered rows.' };
  return {
    type: 'object',
    required: ['execution_id', 'schema', 'rows', 'row_count', 'total_rows', 'has_more'],
    properties: {
      execution_id: { type: 'string', format: 'uuid' },
      schema: {
        type: 'array',
        description: 'The columns, in the order of the cells.',
        items: {
          type: 'object',
          required: ['name', 'type'],
          properties: { name: { type: 'string' }, type: { type: 'string' } },
        },
        ...(columns ? { examples: [columns] } : {}),
      },
      rows: { type: 'array', items: row },
      row_count: { type: 'integer' },
      total_rows: { type: 'integer' },
      has_more: { type: 'boolean' },
      result_url: { type: 'string', description: 'Where the other pages are.' },
      expires_at: { type: ['string', 'null'], format: 'date-time' },
    },
  };
}
