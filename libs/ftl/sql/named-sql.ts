import type { CanonicalValue, ColumnType, Dialect } from '#libs/typesystem';
import { coerceText, MARKER_CLOSE, MARKER_OPEN, type SqlToken } from '#libs/typesystem';
import type { RefusalReason } from '../problems.js';
import type { BindPart, Origin, OutputPart } from '../runtime/output.js';
import type { ContextOrigin } from '../runtime/taint.js';
import { literalPieces } from './literal-content.js';
import { textPlan, type PlacedToken } from './text-plan.js';

/** A value the statement binds, in order of first use. */
export interface Bind {
  name: string;
  type: ColumnType;
  value: CanonicalValue;
  origin: ContextOrigin;
}

/** SQL that may not be sent as it is: why, and which part of the output is to blame. */
export class PositionRefusal extends Error {
  constructor(
    readonly reason: RefusalReason,
    readonly origin: Origin | null,
  ) {
    super(MESSAGES[reason] ?? 'The SQL is refused.');
  }
}

const MESSAGES: Readonly<Partial<Record<RefusalReason, string>>> = {
  bind_in_literal: 'A run-time value cannot stand in this kind of literal; write it as :name or in a plain literal.',
  bind_in_identifier: 'A run-time value cannot be part of an identifier or touch a word; use ?sql_identifier.',
  bind_in_structure: 'A run-time value cannot name a table, column or sort item; use ?sql_identifier or ?sql_choice.',
  bind_in_comment: 'A run-time value cannot stand in a comment.',
  native_placeholder: 'A placeholder of the driver stands in the SQL; write :name.',
  unterminated: 'A literal, quoted identifier or comment does not end.',
  list_outside_in: '?sql_list stands only right after "IN (".',
};

export interface NamedSql {
  sql: string;
  /** Values of `${…}`; those of `:name` in the text are the Context's. */
  binds: Bind[];
  /** Names of `:name` in the author's text, in order of first use, with where they stand. */
  written: Map<string, Origin | null>;
}

/** Judges where every bind stands and writes `:name` for it (contract 05 §5.3). Throws `PositionRefusal`. */
export function nameBinds(dialect: Dialect, parts: readonly OutputPart[]): NamedSql {
  return new BindNamer(dialect, parts).run();
}

const LITERAL_PREFIXES: ReadonlySet<string> = new Set(['DATE', 'TIME', 'TIMESTAMP']);
/** Such a prefix at the end of a text, with the blanks behind it. */
const PREFIX_AT_END = /(?:DATE|TIME|TIMESTAMP)\s*$/i;
/** A bind beside one of these would read as part of a word, a path or another bind. */
const TOUCHES = /[\p{L}\p{M}\p{Nd}_$#@.\uD800-\uDFFF\uE000\uE001]/u;

class BindNamer {
  readonly #parts: readonly OutputPart[];
  readonly #placed: OutputPart[] = [];
  readonly #starts: number[] = [];
  readonly #text: string;
  readonly #binds = new Map<string, Bind>();
  readonly #written = new Map<string, Origin | null>();
  #out: string[] = [];
  #computed = 0;

  constructor(
    readonly dialect: Dialect,
    parts: readonly OutputPart[],
  ) {
    this.#parts = parts;
    let length = 0;
    const pieces = parts.map((part) => {
      this.#starts.push(length);
      const piece = part.kind === 'text' ? part.text : this.#marker(part);
      length += piece.length;
      return piece;
    });
    this.#text = pieces.join('');
  }

  #marker(part: OutputPart): string {
    this.#placed.push(part);
    return `${MARKER_OPEN}${this.#placed.length - 1}${MARKER_CLOSE}`;
  }

  run(): NamedSql {
    const { open, steps } = textPlan(this.dialect, this.#text);
    if (open) throw new PositionRefusal(this.#blameInside(open, 'unterminated'), this.#originOf(open));
    for (const step of steps) {
      if (typeof step === 'string') this.#out.push(step);
      else this.#write(step);
    }
    return { sql: this.#out.join(''), binds: [...this.#binds.values()], written: this.#written };
  }

  #write(placed: PlacedToken): void {
    const { token, structural } = placed;
    const marked = token.text.includes(MARKER_OPEN);
    switch (token.kind) {
      case 'native_placeholder':
        throw new PositionRefusal('native_placeholder', this.#originOf(token));
      case 'bind':
        if (structural) throw new PositionRefusal('bind_in_structure', this.#originOf(token));
        if (!this.#written.has(token.text.slice(1))) this.#written.set(token.text.slice(1), this.#originOf(token));
        break;
      case 'marker':
        this.#placeMarker(placed);
        return;
      case 'string':
        if (!marked) break;
        this.#placeLiteral(placed);
        return;
      default:
        if (marked) throw new PositionRefusal(this.#blameInside(token, 'bind_in_identifier'), this.#originOf(token));
    }
    this.#out.push(token.text);
  }

  #blameInside(token: SqlToken, otherwise: RefusalReason): RefusalReason {
    if (!token.text.includes(MARKER_OPEN)) return otherwise;
    if (token.kind === 'comment') return 'bind_in_comment';
    if (token.kind === 'dollar_string' || token.kind === 'string') return 'bind_in_literal';
    return 'bind_in_identifier';
  }

  #placeMarker({ token, structural, before }: PlacedToken): void {
    const part = this.#placed[Number(token.text.slice(1, -1))];
    if (!part || part.kind === 'text') throw new PositionRefusal('bind_in_identifier', this.#originOf(token));
    const { origin } = part;
    if (part.kind === 'list-text' || part.list?.first) {
      const [word, open] = before;
      if (open?.text !== '(' || word?.text.toUpperCase() !== 'IN') throw new PositionRefusal('list_outside_in', origin);
    }
    if (TOUCHES.test(this.#text[token.start - 1] ?? '') || TOUCHES.test(this.#text[token.end] ?? '')) {
      throw new PositionRefusal('bind_in_identifier', origin);
    }
    if (part.kind === 'list-text') {
      this.#out.push(part.text);
      return;
    }
    if (structural) throw new PositionRefusal('bind_in_structure', origin);
    this.#place(this.#bind(part, part.key, part.type, part.value));
  }

  #placeLiteral({ token, structural, before }: PlacedToken): void {
    const origin = this.#originOf(token);
    const last = before[before.length - 1];
    const word = last?.kind === 'word' ? last.text.toUpperCase() : '';
    if ((token.form !== 'plain' && token.form !== 'backslash') || word === 'INTERVAL') {
      throw new PositionRefusal('bind_in_literal', origin);
    }
    if (structural) throw new PositionRefusal('bind_in_structure', origin);
    const pieces = literalPieces(token);
    const parts = pieces.map((piece) => (typeof piece === 'string' ? piece : this.#placed[piece]));
    const first = parts.find((part): part is BindPart => typeof part === 'object' && part.kind === 'bind');
    if (!first || parts.some((part) => typeof part === 'object' && (part.kind !== 'bind' || part.list))) {
      throw new PositionRefusal('bind_in_literal', origin);
    }
    const prefix = LITERAL_PREFIXES.has(word) ? word : null;
    if (prefix !== null) this.#dropPrefix();
    else if (TOUCHES.test(this.#text[token.start - 1] ?? '')) throw new PositionRefusal('bind_in_identifier', origin);
    if (TOUCHES.test(this.#text[token.end] ?? '')) throw new PositionRefusal('bind_in_identifier', origin);
    const whole = parts.length === 1;
    const isText = !whole || first.type.type === 'STRING';
    const joined = parts.map((part) => (typeof part === 'object' ? part.text : part)).join('');
    if (prefix !== null && isText) {
      const type: ColumnType = { type: prefix as 'DATE' | 'TIME' | 'TIMESTAMP' };
      const coerced = coerceText(type, prefix === 'TIMESTAMP' ? isoStamp(joined) : joined);
      const sample = parts.some((part) => typeof part === 'object' && part.kind === 'bind' && part.sample);
      if (!coerced.ok && !sample) throw new PositionRefusal('bind_in_literal', origin);
      this.#place(this.#bind(first, null, type, coerced.ok ? coerced.value : null));
    } else if (whole) this.#place(this.#bind(first, first.key, first.type, first.value));
    else this.#place(this.#bind(first, null, { type: 'STRING' }, joined));
  }

  /** Behind a colon the bind stands off, or the two would read as `::`. */
  #place(name: string): void {
    const afterColon = this.#out[this.#out.length - 1]?.endsWith(':');
    this.#out.push(`${afterColon ? ' ' : ''}:${name}`);
  }

  /** Takes back the prefix word and the blanks behind it; one behind a comment stays. */
  #dropPrefix(): void {
    const text = this.#out.pop() ?? '';
    this.#out.push(text.replace(PREFIX_AT_END, ''));
  }

  #bind(part: BindPart, key: string | null, type: ColumnType, value: CanonicalValue): string {
    const name = key ?? `__b${++this.#computed}__`;
    if (!this.#binds.has(name)) this.#binds.set(name, { name, type, value, origin: part.valueOrigin });
    return name;
  }

  /** Where the first bind inside a token came from, else the part its first character belongs to. */
  #originOf(token: SqlToken): Origin | null {
    const marker = new RegExp(`${MARKER_OPEN}(\\d+)${MARKER_CLOSE}`).exec(token.text);
    if (marker) return this.#placed[Number(marker[1])]?.origin ?? null;
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= token.start) low = middle;
      else high = middle - 1;
    }
    const part = this.#parts[low];
    if (!part) return null;
    const { template, offset } = part.origin;
    return { template, offset: offset + (part.kind === 'text' ? token.start - this.#starts[low]! : 0) };
  }
}

/** `2026-01-01 10:00:00` as SQL writes it → the ISO form; without an offset it is UTC. */
function isoStamp(text: string): string {
  const iso = text.trim().replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T');
  const timed = /^\d{4}-\d{2}-\d{2}$/.test(iso) ? `${iso}T00:00:00` : iso;
  return /(?:Z|[+-]\d{2}:\d{2})$/.test(timed) ? timed : `${timed}Z`;
}
