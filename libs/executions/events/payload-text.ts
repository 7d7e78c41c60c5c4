import { ExactNumber, isExactNumber, RawJson, readJson, writeJson } from '#libs/kernel';

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
const RANK: ReadonlyMap<string, number> = new Map(LEADING.map((name, place) => [name, place]));

/**
 * The one text of an event's payload. The table keeps JSONB, which forgets the order of members, blanks and how a number
 * was written; so the text is made by rules that can be applied again to what the table gives back, and a live stream,
 * the transient log and a replay of last week show the same bytes (03 §5.2).
 */
export function payloadText(payload: unknown): string {
  return writeJson(ordered(payload));
}

/** The same text again, from the JSON of the table. */
export function storedPayloadText(json: string): string {
  return payloadText(readJson(json));
}

function ordered(value: unknown): unknown {
  if (typeof value === 'number') return plainNumber(JSON.stringify(value), value);
  if (typeof value !== 'object' || value === null) return value;
  if (isExactNumber(value)) return plainNumber(value.toString(), value);
  if (value instanceof RawJson) return ordered(readJson(value.text));
  if (Array.isArray(value)) return value.map(ordered);
  const members = value instanceof Map ? [...(value as Map<string, unknown>)] : Object.entries(value);
  members.sort(([left], [right]) => byPlace(left, right));
  // A map: an object would put keys that look like array indexes first, and has a `__proto__`.
  return new Map(members.map(([name, member]) => [name, ordered(member)]));
}

function byPlace(left: string, right: string): number {
  const places = (RANK.get(left) ?? LEADING.length) - (RANK.get(right) ?? LEADING.length);
  return places || (left < right ? -1 : 1);
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** As NUMERIC writes it: no exponent, no minus before zero; the digits behind the point stay. */
function plainNumber(text: string, value: unknown): unknown {
  const [, sign = '', whole = '', fraction = '', exponent] = NUMBER.exec(text) ?? [];
  const isZero = !/[1-9]/.test(whole + fraction);
  if (exponent === undefined && !(sign && isZero)) return value;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent ?? 0);
  const padded = point > 0 ? digits.padEnd(point, '0') : digits.padStart(digits.length - point + 1, '0');
  const at = Math.max(point, 1);
  const integer = padded.slice(0, at).replace(/^0+(?=\d)/, '');
  const rest = padded.slice(at);
  return new ExactNumber(`${isZero ? '' : sign}${integer}${rest ? `.${rest}` : ''}`);
}
