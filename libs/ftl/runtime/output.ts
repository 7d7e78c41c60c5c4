import type { CanonicalValue, ColumnType } from '#libs/typesystem';
import type { ParsedTemplate } from '../template.js';
import { standingOff } from './standing-off.js';
import type { ContextOrigin } from './taint.js';

/** Where in which body a piece of output came from. */
export interface Origin {
  template: ParsedTemplate;
  offset: number;
}

export interface TextPart {
  kind: 'text';
  text: string;
  origin: Origin;
  /** May hold text of a number: see `standingOff`. */
  numeric: boolean;
}

/** A place in the output where a value will be bound. */
export interface BindPart {
  kind: 'bind';
  /** The Context key, while the value is the key's own. */
  key: string | null;
  type: ColumnType;
  value: CanonicalValue;
  valueOrigin: ContextOrigin;
  /** The value as text (contract 05 §4.5): what a literal around it would have held. */
  text: string;
  origin: Origin;
  /** The value is a dry-render sample: its text need not have the form a literal prefix wants. */
  sample: boolean;
  /** Part of a `?sql_list`; the first of the list carries `first`. */
  list?: { first: boolean };
}

/** Text that a checked built-in printed where a list must stand. */
export interface ListTextPart {
  kind: 'list-text';
  text: string;
  origin: Origin;
}

export type OutputPart = TextPart | BindPart | ListTextPart;

/** Ordered pieces of text and binds. */
export class Output {
  readonly parts: OutputPart[] = [];
  /** Some of the text may be a number's. */
  numeric = false;
  /** The end is text of a number, or author's text with nothing but an empty one behind it. */
  #endsNumeric = false;

  text(text: string, origin: Origin, numeric = false): void {
    if (numeric) this.numeric = true;
    if (text === '') {
      this.#endsNumeric ||= numeric;
      return;
    }
    const standing = numeric || this.#endsNumeric ? standingOff(this.#end, text) : text;
    this.#endsNumeric = numeric;
    this.parts.push({ kind: 'text', text: standing, origin, numeric });
  }

  bind(part: BindPart): void {
    this.#endsNumeric = false;
    this.parts.push(part);
  }

  append(parts: readonly OutputPart[]): void {
    for (const part of parts) {
      if (part.kind === 'text') this.text(part.text, part.origin, part.numeric);
      else {
        this.#endsNumeric = false;
        this.parts.push(part);
      }
    }
  }

  get #end(): string {
    const last = this.parts.at(-1);
    return last?.kind === 'text' ? last.text : '';
  }

  get hasBinds(): boolean {
    return this.parts.some(({ kind }) => kind !== 'text');
  }

  plainText(): string {
    return this.parts.map((part) => part.text).join('');
  }
}
