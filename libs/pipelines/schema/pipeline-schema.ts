import { FOLDER_PATH_PATTERN, MAX_PATH_CHARS } from '#libs/lifecycle';
import { MAX_DISPLAY_NAME_CHARS } from '../document/read-document.js';
import { checks } from './check-schema.js';
import { nodes } from './node-schema.js';
import { parameters } from './parameter-schema.js';
import { notBlank, optional, REFUSED, wholeNumber, type Schema } from './vocabulary.js';

/**
 * The shape of a pipeline document for editors, made of the tables the readers judge by (contract 10 §1). It refuses
 * nothing the server takes: members it does not know are left to the server, which drops them with a warning, and rules
 * that need the registries, the graph or a value's type are the server's alone.
 */
export function pipelineSchema(): Schema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Pipeline',
    description:
      'A pipeline document. A null counts as absent. POST /api/v1/pipelines/validate judges what a schema cannot.',
    type: 'object',
    required: ['name', 'nodes'],
    properties: {
      schema_version: optional({ const: 1 }),
      name: {
        type: 'string',
        pattern: FOLDER_PATH_PATTERN,
        maxLength: MAX_PATH_CHARS,
        description: 'Folder path, never renamed.',
        examples: ['fleet/daily/idle_trucks'],
      },
      display_name: optional({ ...notBlank, maxLength: MAX_DISPLAY_NAME_CHARS }),
      description: optional({ type: 'string' }),
      settings: optional(settings),
      parameters: optional(parameters),
      nodes,
      checks: optional(checks),
    },
  };
}

const settings: Schema = {
  type: 'object',
  properties: {
    tempdb: optional({
      type: 'object',
      properties: {
        engine: optional({ enum: ['DUCKDB', 'H2'], description: 'H2 runs on DuckDB.' }),
        config: optional({
          type: 'object',
          properties: { max_memory_mb: optional(wholeNumber(1)) },
          additionalProperties: REFUSED,
        }),
      },
    }),
    query_timeout_seconds: optional({
      ...wholeNumber(1),
      description: 'Seconds a statement may take in nodes that set none.',
    }),
  },
};
