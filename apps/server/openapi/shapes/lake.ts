import { z } from 'zod';
import { moment, uuid, whole } from './envelope.js';

const namespace = z.array(z.string());
const format = z.enum(['parquet', 'iceberg']);

export const lakeTable = z
  .object({
    id: uuid,
    namespace,
    name: z.string(),
    format,
    location: z.string(),
    partition_column: z.string().nullable(),
    registered_by: uuid,
    registered_at: moment,
    last_error: z.string().nullable(),
    last_error_at: moment.nullable(),
  })
  .meta({ id: 'LakeTable' });

export const lakeTableList = z
  .object({ datasource: z.string(), tables: z.array(lakeTable), count: whole })
  .meta({ id: 'LakeTableList' });

const givenNamespace = z.union([namespace, z.string()]).describe('Segments, as a list or joined by dots.');

export const lakeTableBody = z
  .strictObject({
    namespace: givenNamespace,
    name: z.string(),
    format,
    location: z.string().describe('s3://bucket/… or file:///…; a trailing slash means the whole tree.'),
    partition_column: z.string().nullable().optional(),
  })
  .meta({ id: 'LakeTableBody' });

const listed = z.strictObject({
  namespace: givenNamespace.optional(),
  name: z.string(),
  format,
  location: z.string().optional(),
  path: z.string().optional().describe('What follows publish_prefix, instead of location.'),
  partition_column: z.string().nullable().optional(),
});

export const lakeImportBody = z
  .union([
    z.strictObject({
      tables: z.array(listed).min(1).max(500),
      namespace: givenNamespace.optional(),
      publish_prefix: z.string().optional(),
    }),
    z.strictObject({ manifest_url: z.string(), namespace: givenNamespace.optional() }),
  ])
  .meta({ id: 'LakeImportBody' });

export const lakeImport = z
  .object({
    registered: z.array(lakeTable),
    registered_count: whole,
    already_registered: z.array(lakeTable),
    already_registered_count: whole,
  })
  .meta({ id: 'LakeImport' });
