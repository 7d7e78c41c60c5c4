import { z } from 'zod';
import { json, moment, uuid } from './envelope.js';

export const auditEvent = z
  .object({
    id: z.string(),
    timestamp: moment,
    event: z.string(),
    user_id: uuid.nullable(),
    key_id: z.string().nullable(),
    source_ip: z.string().nullable(),
    user_agent: z.string().nullable(),
    details: json,
  })
  .meta({ id: 'AuditEvent' });
