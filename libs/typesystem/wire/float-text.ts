/** Smallest normal float32; below it fewer than six digits can be enough. */
const MIN_NORMAL_FLOAT32 = 1.1754943508222875e-38;

/** A finite double as a JSON number token: the shortest text that gives it back. */
export function float64Text(value: number): string {
  return String(value);
}

/** A finite float32 as a JSON number token: the shortest text that gives it back as float32 (contract 01 §5.2). */
export function float32Text(value: number): string {
  return String(shortestFloat32(value));
}

/** The double whose text is the shortest of the float32: 1.1 for 1.100000023841858. */
export function shortestFloat32(value: number): number {
  if (Number.isInteger(value) && Math.abs(value) <= 16_777_216) return value;
  // A float32 keeps any six digits, so a shorter text shows itself at six, but for subnormal numbers.
  for (let digits = Math.abs(value) < MIN_NORMAL_FLOAT32 ? 1 : 6; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    const candidate = Number(text);
    if (Math.fround(candidate) === value) return candidate;
    if (isPowerOfTwo(value)) {
      // Below a power of two floats lie closer: the nearest text may miss it where the next one above does not.
      const above = nextDecimalAbove(text, value);
      if (Math.fround(above) === value) return above;
    }
  }
  return Number(value.toPrecision(9));
}

const FLOAT = new Float32Array(1);
const BITS = new Int32Array(FLOAT.buffer);

function isPowerOfTwo(value: number): boolean {
  FLOAT[0] = value;
  return (BITS[0]! & 0x7fffff) === 0;
}

/** The decimal with one more in its last digit, away from zero, when `text` lies nearer to zero than `value`. */
function nextDecimalAbove(text: string, value: number): number {
  if (Math.abs(Number(text)) >= Math.abs(value)) return Number.NaN;
  const [mantissa = '', exponent = '0'] = text.split('e');
  const fraction = mantissa.split('.')[1]?.length ?? 0;
  const digits = BigInt(mantissa.replace('.', '')) + (value < 0 ? -1n : 1n);
  return Number(`${digits}e${Number(exponent) - fraction}`);
}
