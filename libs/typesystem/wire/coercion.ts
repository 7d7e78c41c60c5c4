import type { CanonicalValue } from '../canonical-type.js';

/**
 * Outcome of reading a caller's value. `type`: the form is wrong (`pipeline.execution.invalid_parameter_type`);
 * `constraint`: the form is right and precision, scale or range is exceeded
 * (`pipeline.execution.parameter_constraint_violation`). Nothing is ever rounded (contract 01 §3.2, §5.3).
 */
export type Coercion =
  { ok: true; value: CanonicalValue } | { ok: false; kind: 'type' | 'constraint'; message: string };

export function accepted(value: CanonicalValue): Coercion {
  return { ok: true, value };
}

export function wrongForm(expected: string, got: string): Coercion {
  return { ok: false, kind: 'type', message: `expected ${expected}, got ${got}` };
}

export function outOfBounds(limit: string, got: string): Coercion {
  return { ok: false, kind: 'constraint', message: `${limit}, got ${got}` };
}

/** A message never echoes more than this many characters of a value (contract 01 §3.2). */
const MAX_ECHO = 64;

/** At most 64 characters of `text` in double quotes, control characters and lone surrogates escaped. */
export function quoteForMessage(text: string): string {
  const cut = text.length > MAX_ECHO;
  let shown = '';
  for (let i = 0; i < text.length && i < MAX_ECHO; i++) {
    const code = text.charCodeAt(i);
    const piece = isUnprintable(code) ? `\\u${code.toString(16).padStart(4, '0')}` : text[i]!;
    if (shown.length + piece.length > MAX_ECHO) return `"${shown}…"`;
    shown += piece;
  }
  return cut ? `"${shown}…"` : `"${shown}"`;
}

/** Controls, line and paragraph separators, bidirectional overrides, surrogates (a cut could leave half a pair). */
function isUnprintable(code: number): boolean {
  return (
    code < 0x20 ||
    (code >= 0x7f && code < 0xa0) ||
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x2028 && code <= 0x202e) ||
    (code >= 0x2066 && code <= 0x2069) ||
    code === 0xfeff ||
    (code >= 0xd800 && code <= 0xdfff)
  );
}
