import { z } from 'zod';
import type { TemplateLevel, TemplateReport, TemplateSummary, TemplateUse, TemplateView } from '#libs/templates';
import { DIALECTS } from '#libs/typesystem';
import { bodyHash, failures, json, levelPaging, moment, named, uuid, whole } from './envelope.js';
import {
  draft,
  entityStatus,
  importedTemplates,
  versionStamps,
  versionStatus,
  versionSummaryMembers,
} from './pipelines.js';

export const dialect = z.enum(DIALECTS);
const templateImport = z.object({ id: z.string(), version: whole, alias: z.string() });

export const templateBody = z
  .looseObject({
    id: z
      .string()
      .optional()
      .meta({ description: 'Folder path; left out, one is made up.', examples: ['fleet/idle.sql'] }),
    schema_version: whole.optional(),
    engine: z.literal('freemarker').optional(),
    type: z.literal('sql').optional(),
    dialect: dialect.optional().meta({ description: 'Required on creation, inherited afterwards.' }),
    display_name: z.string(),
    description: z.string(),
    imports: z.array(templateImport).optional(),
    is_library: z.boolean().optional(),
    body: z.string().meta({ examples: ['SELECT * FROM trucks WHERE idle_minutes > ${min_idle}'] }),
  })
  .meta({ id: 'TemplateBody' });

export const templateView = named<Omit<TemplateView, 'version_stamps'>>(
  'Template',
  z.object({
    schema_version: z.literal(1),
    id: z.string(),
    folder: z.string(),
    display_name: z.string(),
    description: z.string(),
    engine: z.literal('freemarker'),
    type: z.literal('sql'),
    dialect,
    is_library: z.boolean(),
    imports: z.array(templateImport),
    body: z.string(),
    version: whole,
    status: versionStatus,
    entity_status: entityStatus,
    body_hash: bodyHash,
    current_version: whole.nullable(),
    draft: draft.optional(),
    created_at: moment,
    created_by: uuid,
    updated_at: moment,
    version_stamps: versionStamps,
  }),
);

const templateSummary = named<TemplateSummary>(
  'TemplateSummary',
  z.object({
    id: z.string(),
    folder: z.string(),
    display_name: z.string(),
    description: z.string(),
    entity_status: entityStatus,
    version: whole.nullable(),
    status: versionStatus,
    body_hash: bodyHash.nullable(),
    dialect: dialect.nullable(),
    is_library: z.boolean().nullable(),
    current_version: whole.nullable(),
    created_at: moment,
    created_by: uuid,
    updated_at: moment,
  }),
);
export { templateSummary };

export const templateLevel = named<TemplateLevel & { next_cursor: string | null }>(
  'TemplateLevel',
  z.object({
    prefix: z.string(),
    folders: z.array(z.object({ path: z.string(), segment: z.string(), template_count: whole })),
    templates: z.array(templateSummary),
    ...levelPaging,
  }),
);

export const templateVersions = z.object({
  versions: z.array(z.object({ ...versionSummaryMembers, dialect, is_library: z.boolean() })),
});

export const templateUse = named<TemplateUse>(
  'TemplateUse',
  z.object({
    template: z.object({ id: z.string(), version: whole }),
    scan: z.literal('working_version'),
    pipeline_count: whole,
    references: z.array(
      z.object({
        pipeline: z.string(),
        pipeline_id: uuid,
        node_id: z.string(),
        pipeline_version: whole,
        pipeline_version_status: z.string(),
      }),
    ),
  }),
);

export const templateReport = named<Omit<TemplateReport, 'failures'>>(
  'TemplateReport',
  z.object({
    valid: z.boolean(),
    failures,
    truncated: z.literal(true).optional(),
    warnings: z.tuple([]).meta({ type: 'array', prefixItems: undefined, items: {} }),
    body_hash: bodyHash.nullable(),
  }),
);

export const templateImportReport = z.object({ templates: importedTemplates });
export const templateFile = z.object({ templates: z.array(z.looseObject({ id: z.string(), body: z.string() })) });

export const renderedTemplate = z.union([
  z.string().describe('`mode: text`: the SQL.'),
  z
    .object({
      sql: z.string().describe('As the driver gets it.'),
      named_sql: z.string().describe('With `:name` where a value goes.'),
      binds: z.array(z.object({ name: z.string(), type: z.string(), value: json, origin: z.string() })),
      warnings: z.array(z.object({ code: z.string(), details: z.record(z.string(), z.unknown()) })),
    })
    .describe('`mode: bound`.'),
]);
