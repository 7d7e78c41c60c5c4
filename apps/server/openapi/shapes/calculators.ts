import { z } from 'zod';
import { json, whole } from './envelope.js';

export const calculator = z
  .object({
    kind: z.string(),
    description: z.string(),
    phrases: z.array(z.string()),
    inputs: z.array(
      z.object({
        name: z.string(),
        type: z.string(),
        list: z.boolean(),
        required: z.boolean(),
        default: json.optional(),
        allowed: z.array(z.string()).optional(),
        description: z.string(),
      }),
    ),
    outputs: z.array(
      z.object({
        name: z.string(),
        type: z.string(),
        precision: whole.optional(),
        scale_from: z.string().optional(),
      }),
    ),
    output_field: z.enum(['context_key', 'context_keys']),
    examples: z.array(z.object({ node: json, outputs: json })),
  })
  .meta({ id: 'Calculator' });
