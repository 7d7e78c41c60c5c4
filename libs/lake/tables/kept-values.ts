/** Whole numbers by their types: their bits with the sign's, and the digits all of them fit into. */
const WHOLE: Readonly<Record<string, { bits: number; signed: boolean; digits: number }>> = {
  TINYINT: { bits: 8, signed: true, digits: 3 },
  SMALLINT: { bits: 16, signed: true, digits: 5 },
  INTEGER: { bits: 32, signed: true, digits: 10 },
  BIGINT: { bits: 64, signed: true, digits: 19 },
  UTINYINT: { bits: 8, signed: false, digits: 3 },
  USMALLINT: { bits: 16, signed: false, digits: 5 },
  UINTEGER: { bits: 32, signed: false, digits: 10 },
  UBIGINT: { bits: 64, signed: false, digits: 20 },
};

/** Bits of the whole numbers that these have exactly. */
const EXACT_BITS: Readonly<Record<string, number>> = { FLOAT: 24, DOUBLE: 53 };

/** Others that are read as themselves, only with more room. */
const WIDER: Readonly<Record<string, readonly string[]>> = {
  FLOAT: ['DOUBLE'],
  // A moment beyond the range of nanoseconds fails; the other way digits would go without a word.
  TIMESTAMP: ['TIMESTAMP_NS'],
  JSON: ['VARCHAR'],
  BOOLEAN: ['VARCHAR'],
  DATE: ['VARCHAR'],
  UUID: ['VARCHAR'],
};

/**
 * Whether values of one of the engine's plain types can be read as the other without one being rounded, cut or taken
 * for something else.
 */
export function keepsValues(stored: string, read: string): boolean {
  if (stored === read || WIDER[stored]?.includes(read) === true) return true;
  const whole = WHOLE[stored];
  const decimal = decimalOf(stored);
  if (read === 'VARCHAR') return whole !== undefined || decimal !== undefined;
  const target = decimalOf(read);
  if (whole && target) return whole.digits <= target.precision - target.scale;
  if (whole) return keepsWhole(whole, read);
  if (!decimal || !target) return false;
  return decimal.scale <= target.scale && decimal.precision - decimal.scale <= target.precision - target.scale;
}

function keepsWhole({ bits, signed }: { bits: number; signed: boolean }, read: string): boolean {
  const target = WHOLE[read];
  if (!target) return bits <= (EXACT_BITS[read] ?? 0);
  if (signed === target.signed) return bits <= target.bits;
  return target.signed && bits < target.bits;
}

function decimalOf(type: string): { precision: number; scale: number } | undefined {
  const [, precision, scale] = /^DECIMAL\((\d+),\s*(\d+)\)$/.exec(type) ?? [];
  if (precision === undefined || scale === undefined) return undefined;
  return { precision: Number(precision), scale: Number(scale) };
}
