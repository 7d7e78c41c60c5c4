/**
 * Length of a JSON number token when its exponent is written out: `1e3` is `1000`, four characters.
 * A nine-byte token such as `1e131000` would otherwise become 131 kB in the database (contract 01 §1).
 */
export function writtenOutLength(token: string): number {
  const marker = token.search(/[eE]/);
  if (marker < 0) return token.length;
  const exponent = Number(token.slice(marker + 1));
  const sign = token.startsWith('-') ? 1 : 0;
  const point = token.indexOf('.');
  const whole = (point < 0 ? marker : point) - sign;
  const fraction = point < 0 ? 0 : marker - point - 1;
  const writtenWhole = Math.max(whole + exponent, 1);
  const writtenFraction = Math.max(fraction - exponent, 0);
  return sign + writtenWhole + (writtenFraction > 0 ? 1 + writtenFraction : 0);
}
