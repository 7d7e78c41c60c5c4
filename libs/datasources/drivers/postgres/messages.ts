import { DriverFailure, type DriverFailureKind } from '../driver-failure.js';

/** Backend message types of protocol 3.0 that this driver reads. */
export const MESSAGE = {
  bindComplete: 0x32, // '2'
  closeComplete: 0x33, // '3'
  copyIn: 0x47, // 'G'
  commandComplete: 0x43, // 'C'
  dataRow: 0x44, // 'D'
  emptyQuery: 0x49, // 'I'
  error: 0x45, // 'E'
  noData: 0x6e, // 'n'
  notice: 0x4e, // 'N'
  notification: 0x41, // 'A'
  parameterDescription: 0x74, // 't'
  parameterStatus: 0x53, // 'S'
  parseComplete: 0x31, // '1'
  portalSuspended: 0x73, // 's'
  readyForQuery: 0x5a, // 'Z'
  rowDescription: 0x54, // 'T'
} as const;

/** One column of a RowDescription. `tableOid`/`attribute` are 0 for an expression. */
export interface FieldDescription {
  name: string;
  tableOid: number;
  attribute: number;
  typeOid: number;
  typeModifier: number;
}

export type ResultFormat = 0 | 1;

function message(type: string, bodyLength: number): Buffer {
  const buffer = Buffer.allocUnsafe(5 + bodyLength);
  buffer.write(type, 0, 1, 'latin1');
  buffer.writeUInt32BE(4 + bodyLength, 1);
  return buffer;
}

/** Simple query: only for this driver's own constant text, never for an author's. */
export function query(sql: string): Buffer {
  const text = Buffer.from(sql, 'utf8');
  const buffer = message('Q', text.length + 1);
  text.copy(buffer, 5);
  buffer[buffer.length - 1] = 0;
  return buffer;
}

/** Parse into the unnamed statement. Types are left to the casts in the text (01 §4.4), but for the OIDs given. */
export function parse(sql: string, parameterOids: readonly number[] = []): Buffer {
  const text = Buffer.from(sql, 'utf8');
  const buffer = message('P', 1 + text.length + 1 + 2 + 4 * parameterOids.length);
  buffer[5] = 0;
  text.copy(buffer, 6);
  buffer[6 + text.length] = 0;
  let at = buffer.writeUInt16BE(parameterOids.length, 7 + text.length);
  for (const oid of parameterOids) at = buffer.writeUInt32BE(oid, at);
  return buffer;
}

export type WireValue = string | Buffer | null;

/** Bind to the unnamed portal. Strings travel in text format, Buffers in binary (bytea). */
export function bind(values: readonly WireValue[], formats: readonly ResultFormat[]): Buffer {
  const encoded = values.map((value) => (typeof value === 'string' ? Buffer.from(value, 'utf8') : value));
  const valueBytes = encoded.reduce((sum, value) => sum + 4 + (value?.length ?? 0), 0);
  const buffer = message('B', 2 + 2 + 2 * values.length + 2 + valueBytes + 2 + 2 * formats.length);
  let at = 5;
  buffer[at++] = 0;
  buffer[at++] = 0;
  at = buffer.writeUInt16BE(values.length, at);
  for (const value of values) at = buffer.writeUInt16BE(Buffer.isBuffer(value) ? 1 : 0, at);
  at = buffer.writeUInt16BE(values.length, at);
  for (const value of encoded) {
    at = buffer.writeInt32BE(value === null ? -1 : value.length, at);
    if (value !== null) at += value.copy(buffer, at);
  }
  at = buffer.writeUInt16BE(formats.length, at);
  for (const format of formats) at = buffer.writeUInt16BE(format, at);
  return buffer;
}

/** Describe the unnamed statement. */
export const DESCRIBE_STATEMENT = Buffer.from([0x44, 0, 0, 0, 6, 0x53, 0]);
export const FLUSH = Buffer.from([0x48, 0, 0, 0, 4]);
export const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);
export const TERMINATE = Buffer.from([0x58, 0, 0, 0, 4]);

/** Execute the unnamed portal for at most `maxRows` rows; 0 = all. */
export function execute(maxRows: number): Buffer {
  const buffer = message('E', 5);
  buffer[5] = 0;
  buffer.writeUInt32BE(maxRows, 6);
  return buffer;
}

export function cancelRequest(processId: number, secretKey: number): Buffer {
  const buffer = Buffer.allocUnsafe(16);
  buffer.writeUInt32BE(16, 0);
  buffer.writeUInt32BE(80877102, 4);
  buffer.writeInt32BE(processId, 8);
  buffer.writeInt32BE(secretKey, 12);
  return buffer;
}

export function readFields(body: Buffer): FieldDescription[] {
  const fields: FieldDescription[] = [];
  let at = 2;
  for (let count = body.readUInt16BE(0); count > 0; count -= 1) {
    const end = body.indexOf(0, at);
    const name = body.toString('utf8', at, end);
    at = end + 1;
    fields.push({
      name,
      tableOid: body.readUInt32BE(at),
      attribute: body.readInt16BE(at + 4),
      typeOid: body.readUInt32BE(at + 6),
      typeModifier: body.readInt32BE(at + 12),
    });
    at += 18;
  }
  return fields;
}

/** Rows touched, from a command tag such as `INSERT 0 5`; 0 where the tag has no count. */
export function rowsOf(tag: string): number {
  const count = /^(?:INSERT \d+|UPDATE|DELETE|MERGE|COPY|SELECT|FETCH|MOVE) (\d+)$/.exec(tag)?.[1];
  return count === undefined ? 0 : Number(count);
}

/** ErrorResponse fields by their one-letter code. */
export function readErrorFields(body: Buffer): Map<string, string> {
  const fields = new Map<string, string>();
  let at = 0;
  while (at < body.length && body[at] !== 0) {
    const end = body.indexOf(0, at + 1);
    fields.set(String.fromCharCode(body[at] ?? 0), body.toString('utf8', at + 1, end));
    at = end + 1;
  }
  return fields;
}

const CONNECTION_CLASSES = new Set(['08', '28']);
const CONNECTION_STATES = new Set(['57P01', '57P02', '57P03', '57P05', '53300', '3D000']);

/** SQLSTATE → kind (06 §8). */
export function classify(sqlState: string): DriverFailureKind {
  if (sqlState === '57014') return 'cancelled';
  if (sqlState === '42501') return 'permission';
  if (sqlState === '42P01' || sqlState === '3F000') return 'missing_table';
  if (CONNECTION_STATES.has(sqlState) || CONNECTION_CLASSES.has(sqlState.slice(0, 2))) return 'connection';
  return 'other';
}

/** The server's primary message; its DETAIL may quote row values and is left out. */
export function failureOf(body: Buffer): DriverFailure {
  const fields = readErrorFields(body);
  const sqlState = fields.get('C') ?? 'XX000';
  return new DriverFailure(classify(sqlState), fields.get('M') ?? 'The server reported an error.', {
    driverCode: sqlState,
  });
}

export const COPY_DONE = Buffer.from([0x63, 0, 0, 0, 4]);

export function copyData(data: Buffer): Buffer {
  const buffer = message('d', data.length);
  data.copy(buffer, 5);
  return buffer;
}

export function copyFail(reason: string): Buffer {
  const buffer = message('f', Buffer.byteLength(reason) + 1);
  buffer.write(reason, 5);
  buffer[buffer.length - 1] = 0;
  return buffer;
}
