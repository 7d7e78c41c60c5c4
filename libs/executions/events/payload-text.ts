import { isExactNumber, RawJson, readJson, writeJson } from '#libs/kernel';

/** What a payload may be nested; only a circle reaches it. */
const MAX_DEPTH = 500;

/** Members a reader looks for first, in this order; all others follow by name. */
const LEADING = [
  'execution_id',
  'correlation_id',
  'pipeline_id',
  'pipeline_version',
  'node_id',
  'attempt',
  'sequence',
  'operation',
  'destination',
  'kind',
  'state',
  'started_at',
  'completed_at',
  'failed_at',
  'aborted_at',
  'observed_at',
  'duration_ms',
  'elapsed_ms',
  'reason',
  'status',
  'failed_node_id',
  'rows_out',
  'bytes_out',
  'class',
  'code',
  'message',
  'user_message',
  'details',
  'doc_url',
  'node',
  'sql',
  'exception',
  'error',
  'node_stats',
  'schema',
  'name',
  'type',
  'rows',
  'row_count',
  'total_rows',
  'has_more',
];
/** As they stand in the text. */
const NAMED: ReadonlyMap<string, string> = new Map(LEADING.map((name) => [name, JSON.stringify(name)]));
const RANK: ReadonlyMap<string, number> = new Map(LEADING.map((name, place) => [name, place]));

/**
 * The one text of an event's payload. The table keeps JSONB, which forgets the order of members, blanks and how a number
 * was written; so the text is made by rules that can be applied again to what the table gives back, and a live stream,
 * the transient log and a replay of last week show the same bytes (03 §5.2).
 */
export function payloadText(payload: unknown): string {
  return textOf(payload, 0);
}

/** The same text again, from the JSON of the table. */
export function storedPayloadText(json: string): string {
  return payloadText(readJson(json));
}

function textOf(value: unknown, depth: number): string {
  if (typeof value === 'string') return JSON.stringify(value);
  // A safe integer but minus zero is written plainly at once.
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'number' && Number.isFinite(value)) return plainNumber(JSON.stringify(value));
  // What is no object has one form; what has none at all is refused there.
  if (typeof value !== 'object' || value === null) return writeJson(value);
  if (isExactNumber(value)) return plainNumber(value.toString());
  if (depth >= MAX_DEPTH) throw new TypeError('the payload is nested too deeply, or contains itself');
  if (value instanceof RawJson) return value.text === '{}' ? '{}' : textOf(readJson(value.text), depth + 1);
  // From a copy without holes: one is refused like any other undefined.
  if (Array.isArray(value)) return `[${Array.from(value, (member) => textOf(member, depth + 1)).join(',')}]`;
  return textOfMembers(value, depth);
}

function textOfMembers(value: object, depth: number): string {
  const members = value instanceof Map ? [...(value as Map<string, unknown>)] : Object.entries(value);
  if (!inPlace(members)) members.sort(([left], [right]) => byPlace(left, right));
  let text = '';
  for (const [name, member] of members) {
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${NAMED.get(name) ?? JSON.stringify(name)}:${textOf(member, depth + 1)}`;
  }
  return `{${text}}`;
}

/** The makers of payloads name their members in order: mostly there is nothing to sort. */
function inPlace(members: readonly [string, unknown][]): boolean {
  for (let at = 1; at < members.length; at++) if (byPlace(members[at - 1]![0], members[at]![0]) > 0) return false;
  return true;
}

function byPlace(left: string, right: string): number {
  const places = (RANK.get(left) ?? LEADING.length) - (RANK.get(right) ?? LEADING.length);
  return places || (left < right ? -1 : 1);
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** As NUMERIC writes it: no exponent, no minus before zero; the digits behind the point stay. */
function plainNumber(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent] = NUMBER.exec(text) ?? [];
  const isZero = !/[1-9]/.test(whole + fraction);
  if (exponent === undefined && !(sign && isZero)) return text;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent ?? 0);
  const padded = point > 0 ? digits.padEnd(point, '0') : digits.padStart(digits.length - point + 1, '0');
  const at = Math.max(point, 1);
  const integer = padded.slice(0, at).replace(/^0+(?=\d)/, '');
  const rest = padded.slice(at);
  return `${isZero ? '' : sign}${integer}${rest ? `.${rest}` : ''}`;
}
