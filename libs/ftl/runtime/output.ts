import type { CanonicalValue, ColumnType } from '#libs/typesystem';
import type { ParsedTemplate } from '../template.js';
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

/**
 * The text as it stands behind `before`: a negative number right behind a minus would open a comment and take the rest
 * of the line out of the statement, so it stands off by a space (contract 05 §5).
 */
export function behind(before: string, text: string): string {
  return before.endsWith('-') && /^-[0-9]/.test(text) ? ` ${text}` : text;
}

/** Ordered pieces of text and binds. */
export class Output {
  readonly parts: OutputPart[] = [];

  text(text: string, origin: Origin): void {
    if (text !== '') this.parts.push({ kind: 'text', text, origin });
  }

  append(parts: readonly OutputPart[]): void {
    const [first] = parts;
    for (const part of parts) {
      this.parts.push(part === first && part.kind === 'text' ? { ...part, text: behind(this.end, part.text) } : part);
    }
  }

  /** The text at the end; empty where a bind stands. */
  get end(): string {
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
