/** One run of a pattern letter. */
export interface Field {
  kind: 'field';
  field: 'year' | 'month' | 'day' | 'dayOfYear' | 'weekday' | 'quarter' | 'hour' | 'minute' | 'second' | 'fraction';
  /** How often the letter stands there. */
  width: number;
  minDigits: number;
  maxDigits: number;
  lowest: number;
  highest: number;
  ofTime: boolean;
}

export type PatternPart = Field | { kind: 'text'; text: string };
export type ReadPattern = { ok: true; parts: readonly PatternPart[] } | { ok: false; expected: string };

interface Letter {
  field: Field['field'];
  maxWidth: number;
  /** Digits a number of width one may have. */
  digits: number;
  range: readonly [number, number];
  ofTime?: true;
}

/** Java's letters whose meaning does not hang on a place in the world. */
const LETTERS: Readonly<Record<string, Letter>> = {
  y: { field: 'year', maxWidth: 4, digits: 4, range: [0, 9999] },
  u: { field: 'year', maxWidth: 4, digits: 4, range: [0, 9999] },
  M: { field: 'month', maxWidth: 5, digits: 2, range: [1, 12] },
  L: { field: 'month', maxWidth: 5, digits: 2, range: [1, 12] },
  d: { field: 'day', maxWidth: 2, digits: 2, range: [1, 31] },
  D: { field: 'dayOfYear', maxWidth: 3, digits: 3, range: [1, 366] },
  E: { field: 'weekday', maxWidth: 5, digits: 1, range: [1, 7] },
  Q: { field: 'quarter', maxWidth: 4, digits: 1, range: [1, 4] },
  q: { field: 'quarter', maxWidth: 4, digits: 1, range: [1, 4] },
  H: { field: 'hour', maxWidth: 2, digits: 2, range: [0, 23], ofTime: true },
  m: { field: 'minute', maxWidth: 2, digits: 2, range: [0, 59], ofTime: true },
  s: { field: 'second', maxWidth: 2, digits: 2, range: [0, 59], ofTime: true },
  S: { field: 'fraction', maxWidth: 9, digits: 9, range: [0, 999_999_999], ofTime: true },
};

const MAX_CHARS = 100;
const FORM = `Java pattern letters ${Object.keys(LETTERS).join(' ')} with other text in '…', such as yyyy-MM-dd`;

/** Splits a pattern into fields and literal text; `''` is a quote. */
export function readPattern(pattern: unknown): ReadPattern {
  if (typeof pattern !== 'string' || pattern === '' || pattern.length > MAX_CHARS) return { ok: false, expected: FORM };
  const parts: PatternPart[] = [];
  for (let at = 0; at < pattern.length;) {
    const char = pattern[at]!;
    if (char === "'") {
      const quoted = quotedText(pattern, at);
      if (!quoted) return { ok: false, expected: `${FORM}; a quote is not closed` };
      parts.push({ kind: 'text', text: quoted.text });
      at = quoted.end;
    } else if (/[A-Za-z]/.test(char)) {
      let end = at + 1;
      while (pattern[end] === char) end++;
      const field = fieldOf(char, end - at);
      if (!field) return { ok: false, expected: FORM };
      parts.push(field);
      at = end;
    } else if (/[[\]{}#]/.test(char)) return { ok: false, expected: `${FORM}; [ ] { } # are reserved` };
    else {
      parts.push({ kind: 'text', text: char });
      at++;
    }
  }
  return { ok: true, parts };
}

function fieldOf(char: string, width: number): Field | undefined {
  const letter = Object.hasOwn(LETTERS, char) ? LETTERS[char]! : undefined;
  if (!letter || width > letter.maxWidth || (letter.field === 'year' && width === 3)) return undefined;
  const { field, digits, range, ofTime = false } = letter;
  const exact = width > 1 || field === 'fraction';
  const [minDigits, maxDigits] = exact ? [width, width] : [1, digits];
  return { kind: 'field', field, width, minDigits, maxDigits, lowest: range[0], highest: range[1], ofTime };
}

function quotedText(pattern: string, start: number): { text: string; end: number } | undefined {
  if (pattern[start + 1] === "'") return { text: "'", end: start + 2 };
  let text = '';
  for (let at = start + 1; at < pattern.length; at++) {
    if (pattern[at] !== "'") text += pattern[at]!;
    else if (pattern[at + 1] === "'") {
      text += "'";
      at++;
    } else return { text, end: at + 1 };
  }
  return undefined;
}
