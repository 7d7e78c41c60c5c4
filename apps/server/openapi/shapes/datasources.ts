import { z } from 'zod';
import { jsonMembers, moment, uuid, whole } from './envelope.js';
import { inlineFact, inlineFacts } from './semantics.js';
import { dialect } from './templates.js';

const credentialKind = z.enum(['password', 'token', 'private_key', 'service_account_json', 'none']);

/** What a body may hold; the service judges every member, and the pair of a credential and a password. */
export const datasourceBody = z
  .looseObject({
    name: z
      .string()
      .optional()
      .meta({ description: 'Required on creation, never renamed.', examples: ['warehouse'] }),
    display_name: z.string().optional(),
    description: z.string().nullable().optional(),
    dialect: dialect.optional(),
    jdbc_url: z
      .string()
      .optional()
      .meta({ examples: ['jdbc:postgresql://db.example.org:5432/fleet'] }),
    credential: z
      .looseObject({ kind: credentialKind })
      .optional()
      .describe('Write-only: a secret goes in and never comes out.'),
    username: z.string().nullable().optional(),
    password: z.string().optional().describe('Write-only.'),
    query_timeout_seconds: whole.nullable().optional(),
    readonly: z.boolean().optional(),
    introspection_include_schemas: z.array(z.string()).optional(),
    properties: jsonMembers.optional(),
    workspace: z.string().nullable().optional(),
    global: z.boolean().optional(),
  })
  .meta({ id: 'DatasourceBody' });

export const datasourceView = z
  .object({
    name: z.string(),
    display_name: z.string(),
    description: z.string().nullable(),
    dialect,
    jdbc_url: z.string(),
    credential: z.object({ kind: credentialKind, username: z.string().optional() }),
    username: z.string().nullable(),
    password_set: z.boolean(),
    query_timeout_seconds: whole.nullable(),
    readonly: z.boolean(),
    introspection_include_schemas: z.array(z.string()).optional(),
    properties: jsonMembers,
    workspace: z.string().nullable().describe('The owner; null: the instance.'),
    granted: z.boolean(),
    last_test: z.object({ tested_at: moment, ok: z.boolean(), message: z.string().nullable() }).nullable(),
    pool: jsonMembers,
    ignored_properties: z.array(z.string()),
    facts: z.array(inlineFact),
    definitions: z.array(inlineFact),
    facts_truncated: z.literal(true).optional(),
    created_by: uuid,
    created_at: moment,
    updated_at: moment,
  })
  .meta({ id: 'Datasource' });

export const connectionTest = z
  .object({
    connected: z.boolean(),
    tested_at: moment,
    latency_ms: whole.optional(),
    server_version: z.string().optional(),
    error: z.string().optional(),
    error_class: z.string().optional(),
  })
  .meta({ id: 'ConnectionTest' });

const namespace = z.array(z.string());
export const schemaList = z
  .object({
    schemas: z.array(z.string()),
    entries: z.array(z.object({ namespace, label: z.string() })),
    truncated: z.boolean(),
  })
  .meta({ id: 'SchemaList' });
const table = z.object({
  namespace,
  schema: z.string().nullable(),
  name: z.string(),
  type: z.string(),
  remarks: z.string().optional(),
  partition_column: z.string().nullable().optional().describe('Of lake tables.'),
  ...inlineFacts,
});
export const tableList = z.object({ tables: z.array(table), truncated: z.boolean() }).meta({ id: 'TableList' });
const column = z.object({
  name: z.string(),
  type: z.string(),
  precision: whole.optional(),
  scale: whole.optional(),
  nullable: z.boolean().optional(),
  source_type: z.string(),
  warnings: z.array(z.string()),
  remarks: z.string().optional(),
  primary_key: whole.optional(),
  references: z.object({ namespace, table: z.string(), column: z.string() }).optional(),
  ...inlineFacts,
});
export const columnList = z.array(column.meta({ id: 'ColumnReference' }));
export const grant = z.object({ workspace: z.string(), granted_by: uuid, granted_at: moment });
export const granted = z.object({ datasource: z.string(), workspace: z.string(), granted: z.literal(true) });
export const namespaceQuery = {
  namespace: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe('Parts of the namespace, repeated or joined by dots.'),
  schema: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe('The same under its older name.'),
};
