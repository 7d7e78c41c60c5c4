import type { InterpolationNode, Span } from '../syntax/nodes.js';
import { formatFractionDigits } from '../format/number-format.js';
import { asNumber, toText, type Text } from './coerce.js';
import type { Interpretation } from './interpretation.js';
import { Output } from './output.js';
import { writeValue } from './printing.js';
import { authorText, glued } from './standing-off.js';
import { string, type Value } from './values.js';

/** `"a ${b} c"`: one string, tainted if any part is; a fragment inside makes it a fragment. */
export function interpolateLiteral(
  run: Interpretation,
  parts: readonly (string | InterpolationNode)[],
  span: Span,
): Value {
  const values = parts.map((part) => (typeof part === 'string' ? string(part) : run.need(part.expr)));
  if (values.some(({ kind }) => kind === 'fragment')) {
    const joined = new Output();
    for (const value of values) writeValue(run, joined, value, span);
    return { kind: 'fragment', parts: joined.parts };
  }
  let length = 0;
  const pieces = parts.map((part, i) => {
    const piece = typeof part === 'string' ? authorText(part) : interpolated(run, part, values[i]!);
    run.budget.string((length += piece.text.length));
    return piece;
  });
  return glued(pieces);
}

/** Text of one interpolation: `${…}`, or `#{…}` with its fraction digits. */
export function interpolated(run: Interpretation, node: InterpolationNode, value: Value): Text {
  if (node.numeric === null) return toText(run, value, node.expr);
  const { number, taint } = asNumber(run, value, node.expr);
  return { text: formatFractionDigits(number, node.numeric.min, node.numeric.max), taint, numeric: true };
}
