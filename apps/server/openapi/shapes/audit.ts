import { z } from 'zod';
import { json, moment, uuid, whole } from './envelope.js';

const auditEvent = z
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

export const auditPage = z.object({
  items: z.array(auditEvent),
  limit: whole,
  next_cursor: z.string().nullable().describe('Goes back in as `after`; null on the last page.'),
});
