import { readFileSync } from 'node:fs';

import { parquetMetadata, parquetReadObjects, type FileMetaData } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';

type Element = FileMetaData['schema'][number];
type Raw = unknown;

/**
 * What a file holds by the reading of another implementation: encodings, pages, codecs and nesting by hyparquet, the
 * logical types by the format's own document. Every value as the text of its wire form, null for NULL and for what has none.
 */
export async function referenceRows(path: string): Promise<(string | null)[][]> {
  const bytes = readFileSync(path);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const metadata = parquetMetadata(file);
  const leaves = metadata.schema.slice(1).map((element) => ({ ...element }));
  // Without their logical types the values come as they are stored.
  for (const element of metadata.schema.slice(1)) {
    delete element.converted_type;
    delete element.logical_type;
  }
  const parsers = { timestampFromNanoseconds: (nanos: bigint) => nanos as unknown as Date };
  const rows = await parquetReadObjects({ file, metadata, compressors, utf8: false, parsers });
  return rows.map((row) => leaves.map((leaf) => textOf(leaf, row[leaf.name] as Raw)));
}

function textOf(element: Element, raw: Raw): string | null {
  if (raw === null || raw === undefined) return null;
  const { type, logical_type: logical, scale = 0 } = element;
  const converted: string = element.converted_type ?? '';
  const kind = logical?.type ?? '';
  if (kind === 'DECIMAL' || converted === 'DECIMAL') return decimalText(unscaled(raw), scale);
  if (kind === 'DATE' || converted === 'DATE') return dayText(Number(raw));
  if (kind === 'TIMESTAMP' || converted.startsWith('TIMESTAMP'))
    return stampText(BigInt(raw as bigint), unitOf(element));
  if (kind === 'TIME' || converted.startsWith('TIME')) return timeText(BigInt(raw as bigint), unitOf(element));
  if (type === 'INT96') return stampText(raw as bigint, 'NANOS');
  if (kind === 'UUID') return hex(raw as Uint8Array).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  if (kind === 'FLOAT16') return numberText(half(raw as Uint8Array));
  if (raw instanceof Uint8Array)
    return ['STRING', 'JSON', 'ENUM'].includes(kind) || ['UTF8', 'JSON', 'ENUM'].includes(converted)
      ? new TextDecoder().decode(raw)
      : Buffer.from(raw).toString('base64');
  if (converted.startsWith('UINT') || (logical?.type === 'INTEGER' && !logical.isSigned))
    return String(BigInt.asUintN(type === 'INT64' ? 64 : 32, BigInt(raw as bigint)));
  if (type === 'FLOAT') return numberText(shortest(raw as number));
  return typeof raw === 'number' ? numberText(raw) : String(raw);
}

type Unit = 'MILLIS' | 'MICROS' | 'NANOS';

function unitOf({ logical_type: logical, converted_type: converted }: Element): Unit {
  if (logical && 'unit' in logical) return logical.unit as Unit;
  return converted?.endsWith('MILLIS') === true ? 'MILLIS' : 'MICROS';
}

const PER_SECOND = { MILLIS: 1000n, MICROS: 1_000_000n, NANOS: 1_000_000_000n };

function stampText(value: bigint, unit: Unit): string {
  const micros = unit === 'NANOS' ? floorDiv(value, 1000n) : (value * 1_000_000n) / PER_SECOND[unit];
  const day = floorDiv(micros, 86_400_000_000n);
  return `${dayText(Number(day))}T${timeText(micros - day * 86_400_000_000n, 'MICROS')}Z`;
}

function timeText(value: bigint, unit: Unit): string {
  const micros = unit === 'NANOS' ? value / 1000n : (value * 1_000_000n) / PER_SECOND[unit];
  const part = (size: bigint, of: bigint): string => String((micros / size) % of).padStart(2, '0');
  const fraction = String(micros % 1_000_000n).padStart(6, '0');
  return `${part(3_600_000_000n, 25n)}:${part(60_000_000n, 60n)}:${part(1_000_000n, 60n)}.${fraction}`;
}

function dayText(days: number): string {
  return new Date(days * 86_400_000).toISOString().slice(0, 10);
}

function floorDiv(value: bigint, by: bigint): bigint {
  return value < 0n && value % by !== 0n ? value / by - 1n : value / by;
}

function unscaled(raw: Raw): bigint {
  if (!(raw instanceof Uint8Array)) return BigInt(raw as bigint);
  return raw.length === 0 ? 0n : BigInt.asIntN(raw.length * 8, BigInt(`0x${hex(raw)}`));
}

function decimalText(value: bigint, scale: number): string {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  return `${value < 0n ? '-' : ''}${whole}${scale > 0 ? `.${digits.slice(-scale)}` : ''}`;
}

/** NaN and the infinities have no wire form. */
function numberText(value: number): string | null {
  if (!Number.isFinite(value)) return null;
  return Object.is(value, -0) ? '-0' : String(value);
}

/** The double with the fewest digits that is this 32 bit number. */
function shortest(value: number): number {
  for (let digits = 1; digits < 10; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

function half(bytes: Uint8Array): number {
  const bits = (bytes[0] ?? 0) | ((bytes[1] ?? 0) << 8);
  const sign = bits & 0x8000 ? -1 : 1;
  const [exponent, fraction] = [(bits >> 10) & 0x1f, bits & 0x3ff];
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
