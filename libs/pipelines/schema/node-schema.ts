import { MAX_NODES } from '../document/read-nodes.js';
import { NODE_TYPES, SQL_NODE_TYPES } from '../document/pipeline-document.js';
import { calculatorNode } from './calculator-schema.js';
import { identifier, notBlank, optional, REFUSED, refused, when, wholeNumber, type Schema } from './vocabulary.js';

const CALCULATOR_MEMBERS = ['kind', 'inputs', 'context_key', 'context_keys'] as const;

const timeout: Schema = {
  ...wholeNumber(1),
  description: 'Seconds. The server has a ceiling of its own.',
};

const output: Schema = {
  type: 'object',
  description: 'Where the rows go.',
  required: ['target'],
  properties: { target: { enum: ['tempdb', 'caller', 'datasource'] } },
  allOf: [
    when('target', 'tempdb', { required: ['table'], properties: { table: identifier } }),
    when('target', 'datasource', {
      required: ['datasource', 'table', 'mode'],
      properties: {
        datasource: { type: 'string', minLength: 1 },
        table: identifier,
        mode: { enum: ['replace', 'append'], description: 'replace empties the table first.' },
      },
    }),
  ],
};

const pin = (key: string, name: Schema): Schema => ({
  type: 'object',
  required: [key, 'version'],
  properties: { [key]: name, version: { ...wholeNumber(1), description: 'Exact; never "latest".' } },
});

const sqlNode: Schema = {
  required: ['source', 'template'],
  properties: {
    source: { ...notBlank, description: 'A datasource, or tempdb.' },
    template: pin('id', notBlank),
    ...refused(...CALCULATOR_MEMBERS),
  },
};

const childNode: Schema = {
  required: ['pipeline'],
  properties: {
    pipeline: pin('name', notBlank),
    parameters: optional({
      type: 'object',
      description: 'By key of the child: a literal, or "${name}" of this Context.',
    }),
    output: optional(output),
    settings: optional({ properties: { query_timeout_seconds: REFUSED } }),
    ...refused('source', 'template', ...CALCULATOR_MEMBERS),
  },
};

/** `nodes` (contract 01 §2). */
export const nodes: Schema = {
  type: 'array',
  minItems: 1,
  maxItems: MAX_NODES,
  items: {
    type: 'object',
    required: ['id', 'type'],
    properties: {
      id: identifier,
      type: { enum: NODE_TYPES },
      description: optional({ type: 'string' }),
      depends_on: optional({ type: 'array', items: { type: 'string' }, description: 'Ids of nodes that run before.' }),
      settings: optional({
        type: 'object',
        properties: { timeout_seconds: optional(timeout), query_timeout_seconds: optional(timeout) },
      }),
    },
    allOf: [
      ...SQL_NODE_TYPES.map((type) => when('type', type, sqlNode)),
      when('type', 'DQL', { properties: { output: optional(output) } }),
      when('type', 'DML', { properties: { output: REFUSED } }),
      when('type', 'DDL', { properties: { output: REFUSED } }),
      when('type', 'PIPELINE', childNode),
      when('type', 'CALCULATOR', calculatorNode),
      when('type', 'CALCULATOR', {
        properties: { settings: optional({ properties: { query_timeout_seconds: REFUSED } }) },
      }),
    ],
  },
};
