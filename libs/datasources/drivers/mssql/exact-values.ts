import { formatUnscaled } from '#libs/typesystem';

/** Where a value ended, and the value. */
interface ReadResult {
  value: unknown;
  offset: number;
}

interface ValueMetadata {
  type: { name: string };
  scale?: number;
}

/** `tedious`' module of value readers; the readers of rows call it by its export. */
export interface ValueParser {
  readValue(buffer: Buffer, offset: number, metadata: ValueMetadata, options: unknown): ReadResult;
}

const DECIMALS = new Set(['Decimal', 'Numeric', 'DecimalN', 'NumericN']);
const MONEY_SCALE = 4;

/** Protocol numbers of base types inside a sql_variant. */
const VARIANT_MONEY = 0x3c;
const VARIANT_SMALL_MONEY = 0x7a;
const VARIANT_DECIMALS = new Set([0x6a, 0x6c]);
const VARIANT_DATE = 0x28;
const VARIANT_TIME = 0x29;

const EXACT = Symbol('exact values');

/**
 * `tedious` gives DECIMAL and MONEY as doubles, wrong past 2^53 (01 §6.5). Its exported reader is wrapped, once per
 * process, so that their bytes are read as whole numbers and handed over as text; everything else stays its own.
 */
export function readExactValues(parser: ValueParser & { [EXACT]?: true }): void {
  if (parser[EXACT]) return;
  const own = parser.readValue;
  parser.readValue = (buffer, offset, metadata, options) => {
    const { name } = metadata.type;
    if (DECIMALS.has(name)) return exact(own, buffer, offset, metadata, options, 1, decimalAt);
    if (name === 'MoneyN') return exact(own, buffer, offset, metadata, options, 1, moneyAt);
    if (name === 'Money') return exact(own, buffer, offset, metadata, options, 0, (at) => moneyAt(at, 8));
    if (name === 'SmallMoney') return exact(own, buffer, offset, metadata, options, 0, (at) => moneyAt(at, 4));
    if (name === 'Variant') return readVariant(own, buffer, offset, metadata, options);
    return own(buffer, offset, metadata, options);
  };
  parser[EXACT] = true;
}

/** The library's own reader says whether all bytes are there and where the value ends; only the value is replaced. */
function exact(
  own: ValueParser['readValue'],
  buffer: Buffer,
  offset: number,
  metadata: ValueMetadata,
  options: unknown,
  prefix: 0 | 1,
  read: (bytes: Buffer, length: number, scale: number) => string,
): ReadResult {
  const result = own(buffer, offset, metadata, options);
  if (result.value === null) return result;
  const bytes = buffer.subarray(offset + prefix, result.offset);
  result.value = read(bytes, bytes.length, metadata.scale ?? 0);
  return result;
}

/** A sign byte (1 = positive), then the magnitude, least byte first. */
function decimalAt(bytes: Buffer, length: number, scale: number): string {
  let magnitude = 0n;
  for (let at = length - 1; at >= 1; at -= 1) magnitude = (magnitude << 8n) | BigInt(bytes[at]!);
  return formatUnscaled(bytes[0] === 1 ? magnitude : -magnitude, scale);
}

/** Ten-thousandths: four bytes, or eight with the upper half first. */
function moneyAt(bytes: Buffer, length: number): string {
  const unscaled =
    length === 4 ? BigInt(bytes.readInt32LE(0)) : (BigInt(bytes.readInt32LE(0)) << 32n) | BigInt(bytes.readUInt32LE(4));
  return formatUnscaled(unscaled, MONEY_SCALE);
}

/** A sql_variant as text, exact whatever lies in it. */
function readVariant(
  own: ValueParser['readValue'],
  buffer: Buffer,
  offset: number,
  metadata: ValueMetadata,
  options: unknown,
): ReadResult {
  const result = own(buffer, offset, metadata, options);
  if (result.value === null) return result;
  const base = buffer[offset + 4]!;
  const data = offset + 6 + buffer[offset + 5]!;
  const bytes = buffer.subarray(data, result.offset);
  if (VARIANT_DECIMALS.has(base)) result.value = decimalAt(bytes, bytes.length, buffer[offset + 7]!);
  else if (base === VARIANT_MONEY) result.value = moneyAt(bytes, 8);
  else if (base === VARIANT_SMALL_MONEY) result.value = moneyAt(bytes, 4);
  else result.value = variantText(result.value, base);
  return result;
}

function variantText(value: unknown, base: number): string {
  if (Buffer.isBuffer(value)) return `0x${value.toString('hex')}`;
  if (!(value instanceof Date)) return String(value);
  const ticks = Math.round(((value as Date & { nanosecondsDelta?: number }).nanosecondsDelta ?? 0) * 1e7);
  const [day = '', clock = ''] = value.toISOString().slice(0, -1).split('T');
  if (base === VARIANT_DATE) return day;
  const time = `${clock}${String(Math.floor(ticks / 10)).padStart(3, '0')}`;
  return base === VARIANT_TIME ? time : `${day}T${time}Z`;
}
