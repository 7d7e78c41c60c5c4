import { z } from 'zod';
import type { EndpointFile } from '#libs/endpoints';
import type { Inventory, PushReport } from '#libs/promotion';
import { named, whole } from './envelope.js';

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
