import { isExactNumber } from './value.js';

/** Text that is JSON already, such as a page of stored rows; written as it is. The maker vouches for it. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** Far above any document we accept (100); only a circle reaches it. */
const MAX_WRITE_DEPTH = 500;

/**
 * Writes a value as JSON with exact numbers: `ExactNumber` and `bigint` by their digits, `RawJson` as it stands,
 * maps with text keys as objects. Members that are undefined are left out.
 *
 * @throws TypeError for what has no exact JSON form: dates (which form?), NaN and infinities, undefined in an array,
 *   functions, symbols, binary data, errors, circles.
 */
export function writeJson(value: unknown): string {
  return write(value, { sorted: false }, 0);
}

/**
 * The same value always gives the same text: members sorted by UTF-16 units as in RFC 8785,
 * numbers by their own text (`1.0` and `1` differ), for hashes of requests (03 §5.5).
 */
export function canonicalJson(value: unknown): string {
  return write(value, { sorted: true }, 0);
}

interface Style {
  sorted: boolean;
}

function write(value: unknown, style: Style, depth: number): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'bigint':
      return value.toString();
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('NaN and infinities have no JSON form');
      return JSON.stringify(value);
    case 'object':
      return value === null ? 'null' : writeObject(value, style, depth);
    default:
      throw new TypeError(`a value of type ${typeof value} has no JSON form`);
  }
}

function writeObject(value: object, style: Style, depth: number): string {
  if (depth >= MAX_WRITE_DEPTH) throw new TypeError('the value is nested too deeply, or contains itself');
  if (Array.isArray(value)) {
    let text = '[';
    // By index: a hole must be refused like any other undefined.
    for (let index = 0; index < value.length; index++) {
      if (index > 0) text += ',';
      text += write(value[index], style, depth + 1);
    }
    return `${text}]`;
  }
  if (isExactNumber(value)) return value.toString();
  if (value instanceof RawJson) return value.text;
  return value instanceof Map ? writeMap(value, style, depth) : writeMembers(value, style, depth);
}

/** In the map's own order, which an object made of it would not keep. */
function writeMap(map: ReadonlyMap<unknown, unknown>, style: Style, depth: number): string {
  const members: [string, unknown][] = [];
  for (const [key, member] of map) {
    if (typeof key !== 'string') throw new TypeError('a map is written as an object only if its keys are texts');
    members.push([key, member]);
  }
  if (style.sorted) members.sort(([left], [right]) => (left < right ? -1 : 1));
  let text = '';
  for (const [key, member] of members) text += writeMember(key, member, style, depth, text === '');
  return `{${text}}`;
}

function writeMembers(value: object, style: Style, depth: number): string {
  requirePlain(value);
  const members = value as Record<string, unknown>;
  const keys = Object.keys(members);
  // By UTF-16 units, as the default order is.
  if (style.sorted) keys.sort();
  let text = '';
  for (const key of keys) text += writeMember(key, members[key], style, depth, text === '');
  return `{${text}}`;
}

function writeMember(key: string, member: unknown, style: Style, depth: number, first: boolean): string {
  if (member === undefined) return '';
  return `${first ? '' : ','}${JSON.stringify(key)}:${write(member, style, depth + 1)}`;
}

/** Most values come straight from a reader or a resolver; the others are asked what they are. */
function requirePlain(value: object): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return;
  const kind = Object.prototype.toString.call(value);
  if (kind !== '[object Object]') throw new TypeError(`${kind.slice(8, -1)} has no JSON form of its own`);
}
