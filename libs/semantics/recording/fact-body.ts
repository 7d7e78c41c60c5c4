import { isExactNumber, isJsonObject, isUuid, PenstockError, type JsonObject, type JsonValue } from '#libs/kernel';

import { FACT_KINDS, type FactKind, type FactRef, type FactScope } from '../learned-fact.js';
import { characterCount, readableText } from '../rules/fact-text.js';

/** A fact as it was sent, its form judged; nothing has been looked up yet. */
export interface FactBody {
  scope: FactScope;
  kind: FactKind;
  fact: string;
  /** As sent. */
  refs: FactRef[];
  evidenceSql: string | null;
  evidenceSummary: string | null;
  sourcePipelineId: string | null;
  sourceVersion: number | null;
  /** Text that is no id names no fact. */
  supersedes: string | null;
}

const FACT_CHARS = { least: 8, most: 1000 };
const SUMMARY_CHARS = 300;
export const MAX_REFS = 20;
const MAX_NAME_CHARS = 255;
const FIELDS = [
  'scope',
  'kind',
  'fact',
  'refs',
  'evidence_sql',
  'evidence_summary',
  'source_pipeline_id',
  'source_version',
  'supersedes',
];

/**
 * Steps 2 and 3 of recording (contract 06 §11): kind and scope, then lengths and forms.
 * @throws 400 `semantics.kind_invalid`, `semantics.fact_invalid` with the field
 */
export function readFactBody(body: JsonObject): FactBody {
  const { kind, scope } = kindOf(body);
  const unknown = Object.keys(body).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined) {
    throw factInvalid(unknown.slice(0, 64), `There is no such field. A fact has ${FIELDS.join(', ')}.`, {
      fields: FIELDS,
    });
  }
  return {
    scope,
    kind,
    fact: factText(body['fact']),
    refs: readRefs(body['refs'], scope),
    evidenceSql: optionalText(body, 'evidence_sql'),
    evidenceSummary: summaryText(body['evidence_summary']),
    sourcePipelineId: optionalText(body, 'source_pipeline_id'),
    sourceVersion: versionOf(body),
    supersedes: optionalText(body, 'supersedes'),
  };
}

export function factInvalid(field: string, message: string, more: Record<string, unknown> = {}): PenstockError {
  return new PenstockError('semantics.fact_invalid', {
    message: `“${field}”: ${message}`,
    details: { field, ...more },
  });
}

function kindOf({ kind, scope }: JsonObject): { kind: FactKind; scope: FactScope } {
  const known = typeof kind === 'string' && Object.hasOwn(FACT_KINDS, kind) ? (kind as FactKind) : undefined;
  if (known !== undefined && FACT_KINDS[known] === scope) return { kind: known, scope };
  const kinds = (of: FactScope): string[] =>
    Object.keys(FACT_KINDS).filter((name) => FACT_KINDS[name as FactKind] === of);
  const allowed = { DATASOURCE: kinds('DATASOURCE'), WORKSPACE: kinds('WORKSPACE') };
  throw new PenstockError('semantics.kind_invalid', {
    message:
      known === undefined
        ? `“kind” must be one of ${Object.keys(FACT_KINDS).join(', ')}.`
        : `A fact of kind ${known} has scope ${FACT_KINDS[known]}.`,
    details: { allowed, ...(known === undefined ? {} : { kind: known, scope: FACT_KINDS[known] }) },
  });
}

const UNSEEN = 'it holds control, direction or invisible characters; send plain text.';

function factText(value: JsonValue | undefined): string {
  if (typeof value !== 'string') throw factInvalid('fact', 'it must be a text.');
  const text = readableText(value);
  if (text === undefined) throw factInvalid('fact', UNSEEN, { reason: 'characters' });
  const length = characterCount(text);
  if (length < FACT_CHARS.least || length > FACT_CHARS.most)
    throw factInvalid('fact', `it has ${FACT_CHARS.least} to ${FACT_CHARS.most} characters.`, { reason: 'length' });
  return text;
}

function summaryText(value: JsonValue | undefined): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw factInvalid('evidence_summary', 'it must be a text.');
  const text = readableText(value);
  if (text === undefined) throw factInvalid('evidence_summary', UNSEEN, { reason: 'characters' });
  if (characterCount(text) > SUMMARY_CHARS)
    throw factInvalid('evidence_summary', `it has at most ${SUMMARY_CHARS} characters.`, { reason: 'length' });
  return text === '' ? null : text;
}

function readRefs(value: JsonValue | undefined, scope: FactScope): FactRef[] {
  const least = scope === 'DATASOURCE' ? 1 : 0;
  const given = value ?? [];
  if (!Array.isArray(given)) throw factInvalid('refs', 'it must be a list of {schema?, table, column?}.');
  if (given.length < least || given.length > MAX_REFS)
    throw factInvalid('refs', `a ${scope} fact refers to ${least} to ${MAX_REFS} tables or columns.`, {
      reason: 'count',
    });
  return given.map((ref, index) => readRef(ref, `refs.${index}`));
}

function readRef(value: JsonValue, field: string): FactRef {
  if (!isJsonObject(value)) throw factInvalid(field, 'it must be an object {schema?, table, column?}.');
  const unknown = Object.keys(value).find((key) => !['schema', 'table', 'column'].includes(key));
  if (unknown !== undefined) throw factInvalid(field, 'it has schema, table and column only.');
  const schema = name(value['schema'], `${field}.schema`);
  const table = name(value['table'], `${field}.table`);
  const column = name(value['column'], `${field}.column`);
  if (table === undefined) throw factInvalid(`${field}.table`, 'it is required.');
  return { ...(schema === undefined ? {} : { schema }), table, ...(column === undefined ? {} : { column }) };
}

/** Names are compared letter by letter with the listing's; null and "" are as if absent. */
function name(value: JsonValue | undefined, field: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string' || value.length > MAX_NAME_CHARS || /[\p{Cc}\p{Cs}]/u.test(value))
    throw factInvalid(field, `it must be a name of at most ${MAX_NAME_CHARS} characters.`);
  return value;
}

function optionalText(body: JsonObject, field: string): string | null {
  const value = body[field];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string' || value.includes('\u0000')) throw factInvalid(field, 'it must be a text.');
  return value;
}

function versionOf(body: JsonObject): number | null {
  const value = body['source_version'];
  if (value === undefined || value === null) return null;
  const version = isExactNumber(value) || typeof (value as unknown) === 'number' ? Number(value) : Number.NaN;
  if (!Number.isInteger(version) || version < 1 || version > 2_147_483_647)
    throw factInvalid('source_version', 'it must be the number of a version.');
  if (body['source_pipeline_id'] == null) throw factInvalid('source_version', 'it needs source_pipeline_id beside it.');
  return version;
}

/** Whether a text can be an id at all; one that cannot names nothing. */
export function idOf(text: string): string | undefined {
  return isUuid(text) ? text.toLowerCase() : undefined;
}
