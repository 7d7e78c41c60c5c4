import { z } from 'zod';
import type { CheckRunView, CheckView } from '#libs/checks';
import type { JsonObject, JsonValue } from '#libs/kernel';
import type {
  ExecuteInput,
  PipelineFile,
  PipelineLevel,
  PipelineSummary,
  PurgeReport,
  ValidationReport,
} from '#libs/pipelines';
import type { DraftView, VersionStamps, VersionSummary } from '#libs/lifecycle';
import { bodyHash, failures, json, jsonMembers, levelPaging, moment, named, uuid, whole } from './envelope.js';

export const versionStatus = z.enum(['DRAFT', 'RELEASED', 'DISCARDED']);
export const entityStatus = z.enum(['ACTIVE', 'DISCARDED']);
const anyJson = z.custom<JsonValue>();
const anyObject = z.custom<JsonObject>().meta({ type: 'object' });

export const draft = named<DraftView>(
  'Draft',
  z.object({ version: whole, body_hash: bodyHash, updated_by: uuid.nullable(), updated_at: moment.nullable() }),
);

const stampMembers = {
  created_at: moment,
  created_by: uuid,
  created_via: z.string(),
  updated_at: moment.nullable(),
  updated_by: uuid.nullable(),
  updated_via: z.string().nullable(),
  released_at: moment.nullable(),
  released_by: uuid.nullable(),
  discarded_at: moment.nullable(),
  discarded_by: uuid.nullable(),
};
export const versionStamps = named<Omit<VersionStamps, 'updated_via'>>('VersionStamps', z.object(stampMembers));

const versionMembers = {
  version: whole,
  status: versionStatus,
  body_hash: bodyHash,
  is_current: z.boolean(),
  ...stampMembers,
};
export const pipelineVersionSummary = named<Omit<VersionSummary, 'updated_via'>>(
  'PipelineVersionSummary',
  z.object(versionMembers),
);
export const versionSummaryMembers = versionMembers;

const warning = z.object({ code: z.string(), path: z.string(), message: z.string() });

export const pipelineSummary = named<PipelineSummary>(
  'PipelineSummary',
  z.object({
    id: uuid,
    name: z.string(),
    folder: z.string(),
    display_name: z.string(),
    description: z.string(),
    owner: uuid,
    entity_status: entityStatus,
    version: whole.nullable().describe('Of the working version: the draft, else the current one.'),
    status: versionStatus,
    body_hash: bodyHash.nullable(),
    current_version: whole.nullable(),
    created_at: moment,
    updated_at: moment,
  }),
);

/** The document's own members; `/docs/pipeline.schema.json` describes them to the last field. */
const documentMembers = {
  schema_version: whole.optional(),
  name: z.string().meta({ description: 'Folder path, never renamed.', examples: ['fleet/daily/idle_trucks'] }),
  display_name: z.string().optional(),
  description: z.string().optional(),
  settings: jsonMembers.optional(),
  parameters: jsonMembers.optional(),
  nodes: z.array(jsonMembers),
  checks: z.array(jsonMembers).optional(),
};

export const pipelineDocument = z
  .looseObject(documentMembers)
  .meta({ id: 'PipelineDocument', externalDocs: { url: '/docs/pipeline.schema.json' } });

export const executeInput = named<ExecuteInput>(
  'ExecuteInput',
  z.object({
    name: z.string(),
    type: z.string().nullable().describe('Null: any scalar.'),
    precision: whole.optional(),
    scale: whole.optional(),
    required: z.boolean(),
    default: anyJson.optional(),
    description: z.string().optional(),
    derived: z.boolean().describe('A key of a calculator: given, its node is not run.'),
  }),
);

const recordMembers = {
  id: uuid,
  folder: z.string(),
  owner: uuid,
  version: whole,
  status: versionStatus,
  entity_status: entityStatus,
  body_hash: bodyHash,
  current_version: whole.nullable(),
  draft: draft.optional(),
  created_at: moment,
  updated_at: moment,
  version_stamps: versionStamps,
  inputs: z
    .array(executeInput)
    .describe('What an execute request may carry: declared parameters, then the keys of calculators.'),
  upgrade_available: z
    .array(z.object({ node_id: z.string(), template_id: z.string(), pinned_version: whole, latest_released: whole }))
    .optional(),
  warnings: z.array(warning).optional(),
};

export const pipelineView = z.object({ ...documentMembers, ...recordMembers }).meta({ id: 'Pipeline' });

export const pipelineLevel = named<PipelineLevel & { next_cursor: string | null }>(
  'PipelineLevel',
  z.object({
    prefix: z.string(),
    folders: z.array(z.object({ path: z.string(), segment: z.string(), pipeline_count: whole })),
    pipelines: z.array(pipelineSummary),
    ...levelPaging,
  }),
);

export const validationReport = named<Omit<ValidationReport, 'failures' | 'warnings'>>(
  'ValidationReport',
  z.object({
    valid: z.boolean(),
    failures,
    truncated: z.literal(true).optional(),
    warnings: z.array(warning),
    body_hash: bodyHash.nullable().describe('What a save would store; null when it would be refused.'),
  }),
);

export const purgeReport = named<PurgeReport>(
  'PurgeReport',
  z.object({
    purged: z.boolean(),
    exclusive_draft_templates: z.array(z.string()),
    exclusive_draft_templates_purged: z.array(z.string()),
  }),
);

export const importedTemplates = z.array(
  z.object({
    id: z.string(),
    version: whole,
    status: z.literal('RELEASED'),
    body_hash: bodyHash,
    imported: z.boolean(),
  }),
);

export const pipelineImport = z
  .object({ ...documentMembers, ...recordMembers, imported: z.boolean(), templates: importedTemplates })
  .meta({ id: 'PipelineImport' });

export const pipelineFile = named<Omit<PipelineFile, 'templates'>>(
  'PipelineFile',
  z.object({
    pipeline: anyObject,
    templates: z.array(jsonMembers),
    manifest: z.object({ pipeline_id: uuid, pipeline_version: whole, template_count: whole, exported_at: moment }),
  }),
);

export const checkRun = named<CheckRunView>(
  'CheckRun',
  z.object({
    id: uuid,
    check_id: z.string(),
    version: whole,
    name: z.string(),
    ran_at: moment,
    ran_by: uuid.nullable(),
    via: z.enum(['mcp', 'rest', 'ui', 'release']),
    parameters: anyJson,
    observed: anyJson,
    verdict: z.enum(['pass', 'fail', 'error']),
    message: z.string().nullable(),
    correlation_id: uuid.nullable(),
    duration_ms: whole.nullable(),
  }),
);

const check = named<CheckView>(
  'Check',
  z.object({
    id: z.string(),
    name: z.string(),
    datasource: z.string(),
    sql: z.string(),
    expected: anyObject,
    parameters: anyObject,
    latest_run: checkRun.nullable(),
  }),
);

export const checkRuns = z.object({ version: whole, runs: z.array(checkRun) });
export const checks = z.object({ version: whole, checks: z.array(check) });
export const checkRequest = z.object({ parameters: json }).partial().optional();
