import { z } from 'zod';
import { FACT_SCOPES, FACT_TRUSTS, type FactView, type InlineFactView } from '#libs/semantics';
import { moment, named, uuid, whole } from './envelope.js';

const inlineMembers = {
  id: uuid,
  scope: z.string(),
  kind: z.string(),
  fact: z.string(),
  trust: z.enum(FACT_TRUSTS),
  drift: z.string().optional().describe('What a read of the catalog found changed.'),
  evidence_summary: z.string().optional(),
  recorded_via: z.string(),
  recorded_at: moment,
  from_this_workspace: z.boolean(),
  source_pipeline: z.object({ id: uuid, name: z.string() }).optional(),
  conflict: z.literal(true).optional(),
};
export const inlineFact = named<InlineFactView>('InlineFact', z.object(inlineMembers));
/** What a datasource, a table or a column tells of itself beyond the catalog. */
export const inlineFacts = { facts: z.array(inlineFact).optional(), facts_truncated: z.literal(true).optional() };

const ref = z.object({ schema: z.string().optional(), table: z.string(), column: z.string().optional() });
const factMembers = {
  ...inlineMembers,
  datasource: z.string(),
  refs: z.array(ref),
  evidence_sql: z.string().nullable(),
  source_version: whole.nullable(),
  recorded_by: uuid,
  verified_by: uuid.nullable(),
  verified_at: moment.nullable(),
  supersedes: uuid.nullable(),
  retired_at: moment.nullable(),
  retired_reason: z.string().nullable(),
};
export const fact = named<FactView>('Fact', z.object(factMembers));
export const recordedFact = z.object({ ...factMembers, refs_added: z.array(ref) }).meta({ id: 'RecordedFact' });
export const factList = z.object({ facts: z.array(fact), truncated: z.boolean() });

export const factBody = z
  .looseObject({
    scope: z.enum(FACT_SCOPES),
    kind: z.string(),
    fact: z.string().meta({ examples: ['amount_cents is in euro cents'] }),
    refs: z.array(ref).optional(),
    evidence_sql: z.string().optional().describe('Read only; it runs once, and must succeed.'),
    evidence_summary: z.string().optional(),
    source_pipeline_id: uuid.optional(),
    source_version: whole.optional(),
    supersedes: uuid.optional(),
  })
  .meta({ id: 'FactBody' });
