import { z } from 'zod';
import type { EndpointFile } from '#libs/endpoints';
import type { Inventory, PromotionReport, PromotionView, PushReport } from '#libs/promotion';
import { named, uuid, whole } from './envelope.js';

const currentEntry = z.object({
  name: z.string(),
  current_version: whole,
  body_hash: z.string(),
});

export const endpointFile = named<EndpointFile>(
  'EndpointFile',
  z.object({
    path: z.string().describe('The pattern, without `/api/x`.'),
    pipeline: z.string().describe('Name of the pipeline.'),
    timeout_seconds: whole,
    description: z.string(),
    enabled: z.boolean(),
    bindings: z.array(z.object({ path_prefix: z.string(), key_name: z.string() })),
  }),
);

export const inventory = named<Inventory>(
  'PromotionInventory',
  z.object({
    deployment: z.string(),
    authoring_enabled: z.boolean(),
    workspace: z.string(),
    pipelines: z.array(currentEntry),
    templates: z.array(currentEntry),
    datasources: z.array(z.string()),
    endpoints: z.array(endpointFile),
    endpoint_keys: z.array(z.string()),
  }),
);

export const pushBody = z.object({
  source_env: z.string().max(128).describe('Label of the deployment that sends.'),
  key_fingerprint: z.string().max(128).optional().describe('SHA-256 of the key, in hexadecimal digits.'),
  workspace: z.string(),
  templates: z.array(z.unknown()).optional().describe('Released templates as an export writes them.'),
  pipelines: z
    .array(z.unknown())
    .optional()
    .describe(
      'Released pipelines as an export writes them; `"current": false` for one that only stands below another.',
    ),
  endpoints: z.array(endpointFile).optional(),
});

const received = z.object({ name: z.string(), version: whole, imported: z.boolean() });

export const pushReport = named<PushReport>(
  'PromotionPush',
  z.object({
    workspace: z.string(),
    templates: z.array(received),
    pipelines: z.array(received.extend({ switched: z.boolean() })),
    endpoints: z.array(z.object({ path: z.string(), pipeline: z.string(), changed: z.boolean() })),
  }),
);

const candidate = z.object({
  pipeline_id: uuid,
  name: z.string(),
  display_name: z.string(),
  version: whole,
  body_hash: z.string(),
  target_version: whole.describe('0 where the target does not have it.'),
  target_body_hash: z.string().nullable(),
  refusals: z
    .array(z.object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()) }))
    .describe('Empty: it may be promoted.'),
});

export const promotionView = named<PromotionView>(
  'Promotion',
  z.object({
    source_env: z.string(),
    workspace: z.string(),
    target: z
      .object({ base_url: z.string(), deployment: z.string(), authoring_enabled: z.boolean() })
      .nullable()
      .describe('Null where none is configured.'),
    candidates: z.array(candidate),
    total: whole,
  }),
);

export const promotionReport = named<PromotionReport>(
  'PromotionReport',
  z.object({
    workspace: z.string(),
    target: z.object({ base_url: z.string(), deployment: z.string() }),
    templates: z.array(received),
    pipelines: z.array(received.extend({ switched: z.boolean() })),
    endpoints: z.array(z.object({ path: z.string(), pipeline: z.string(), changed: z.boolean() })),
    skipped: whole.describe('Entries that the target had as they are here, so that they were not sent.'),
  }),
);
