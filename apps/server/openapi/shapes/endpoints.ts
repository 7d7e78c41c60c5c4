import { z } from 'zod';
import type { EndpointView, KeyBindingView } from '#libs/endpoints';
import { moment, named, uuid, whole } from './envelope.js';

export const endpointView = named<EndpointView>(
  'Endpoint',
  z.object({
    id: uuid,
    path: z.string().describe('The pattern, without `/api/x`.'),
    url: z.string().describe('Where to call it.'),
    pipeline_id: uuid,
    pipeline_name: z.string(),
    timeout_seconds: whole,
    description: z.string(),
    enabled: z.boolean(),
    path_variables: z.array(z.string()),
    created_by: uuid,
    created_at: moment,
    updated_at: moment,
  }),
);

export const keyBinding = named<KeyBindingView>(
  'KeyBinding',
  z.object({
    path_prefix: z.string(),
    api_key_id: z.string(),
    api_key_name: z.string(),
    created_by: uuid,
    created_at: moment,
  }),
);
