/** A value as the catalog keeps it: the bytes of the engine's own form, in hexadecimal. */
export type StoredBytes = Uint8Array;

/** Ends of texts are cut by the engine at so many bytes; a longer one is no end any more. */
const CUT_BYTES = 32;

/**
 * The text of an end of values as `all_tab_col_statistics` keeps it; undefined where the type's form is not read here, or
 * the bytes are none of it.
 */
export function storedText(type: string, bytes: StoredBytes): string | undefined {
  if (bytes.length === 0) return undefined;
  if (type === 'NUMBER' || type === 'FLOAT') return numberText(bytes);
  if (type === 'DATE' || /^TIMESTAMP\(\d\)$/.test(type)) return momentText(bytes);
  if (type === 'VARCHAR2' || type === 'CHAR') return bytes.length >= CUT_BYTES ? undefined : plainText(bytes);
  return undefined;
}

/**
 * An exponent byte of base 100 with the sign in its top bit, then base-100 digits: one more than the digit in positive
 * numbers, 101 less the digit in negative ones, which end in 102.
 */
function numberText([lead = 0, ...rest]: StoredBytes): string | undefined {
  if (lead === 0x80) return rest.length === 0 ? '0' : undefined;
  const isNegative = lead < 0x80;
  const digits = (isNegative && rest.at(-1) === 102 ? rest.slice(0, -1) : rest).map((byte) =>
    isNegative ? 101 - byte : byte - 1,
  );
  if (digits.length === 0 || digits.some((digit) => digit < 0 || digit > 99)) return undefined;
  const pairsBeforePoint = isNegative ? 63 - lead : lead - 192;
  const all = digits.map((digit) => String(digit).padStart(2, '0')).join('');
  const point = pairsBeforePoint * 2;
  const whole = point <= 0 ? '' : all.slice(0, point).padEnd(point, '0');
  const fraction = point <= 0 ? '0'.repeat(-point) + all : all.slice(point);
  const shownWhole = whole.replace(/^0+(?=.)/, '') || '0';
  const shownFraction = fraction.replace(/0+$/, '');
  return `${isNegative ? '-' : ''}${shownWhole}${shownFraction === '' ? '' : `.${shownFraction}`}`;
}

/** Century and year in excess 100, then month, day, and hour, minute and second in excess 1; a timestamp adds nanoseconds. */
function momentText(bytes: StoredBytes): string | undefined {
  const [century = 0, year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = bytes;
  const whole = (century - 100) * 100 + (year - 100);
  if (bytes.length < 7 || whole < 1 || whole > 9999) return undefined;
  const two = (value: number): string => String(value).padStart(2, '0');
  const date = `${String(whole).padStart(4, '0')}-${two(month)}-${two(day)}`;
  const nanos = bytes.length >= 11 ? new DataView(bytes.buffer, bytes.byteOffset + 7, 4).getUint32(0) : 0;
  const fraction = nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;
  return `${date}T${two(hour - 1)}:${two(minute - 1)}:${two(second - 1)}${fraction}`;
}

/** Letters of every database character set alike; others stand for themselves in some sets only. */
function plainText(bytes: StoredBytes): string | undefined {
  return bytes.every((byte) => byte >= 0x20 && byte < 0x7f) ? String.fromCharCode(...bytes) : undefined;
}
