import type { SqlToken } from './sql-token.js';

/**
 * Index of the first token behind a WITH list that begins at `start`; the end of the statement when the list is
 * malformed. A name may be any word, so `WITH delete AS (…) SELECT` is a SELECT.
 */
export function skipWithList(statement: readonly SqlToken[], start: number): number {
  const words = new WordReader(statement, start + 1);
  words.take('RECURSIVE');
  do {
    if (!words.takeName()) return statement.length;
    words.takeParentheses();
    // DuckDB: USING KEY (…) between the columns and AS.
    if (words.take('USING') && words.take('KEY')) words.takeParentheses();
    if (!words.take('AS')) return statement.length;
    words.take('NOT');
    words.take('MATERIALIZED');
    if (!words.takeParentheses()) return statement.length;
    words.takeSearchAndCycle();
  } while (words.takePunctuation(','));
  return words.at;
}

class WordReader {
  readonly #statement: readonly SqlToken[];
  at: number;

  constructor(statement: readonly SqlToken[], at: number) {
    this.#statement = statement;
    this.at = at;
  }

  #is(word: string): boolean {
    const token = this.#statement[this.at];
    return token?.kind === 'word' && token.text.toUpperCase() === word;
  }

  take(word: string): boolean {
    if (!this.#is(word)) return false;
    this.at++;
    return true;
  }

  takePunctuation(text: string): boolean {
    const token = this.#statement[this.at];
    if (token?.kind !== 'punctuation' || token.text !== text) return false;
    this.at++;
    return true;
  }

  takeName(): boolean {
    const kind = this.#statement[this.at]?.kind;
    // MySQL quotes a name with " only in ANSI mode; a string here is its error to report.
    if (kind !== 'word' && kind !== 'quoted_identifier') return false;
    this.at++;
    return true;
  }

  /** A parenthesised group, to the end of the statement when it is never closed. */
  takeParentheses(): boolean {
    if (!this.takePunctuation('(')) return false;
    for (let depth = 1; depth > 0 && this.at < this.#statement.length; this.at++) {
      const { kind, text } = this.#statement[this.at]!;
      if (kind === 'punctuation') depth += text === '(' ? 1 : text === ')' ? -1 : 0;
    }
    return true;
  }

  /** `SEARCH … SET x` and `CYCLE … SET x [TO v DEFAULT v] [USING x]` behind a recursive member. */
  takeSearchAndCycle(): void {
    while (this.#is('SEARCH') || this.#is('CYCLE')) {
      while (this.at < this.#statement.length && !this.#is('SET')) this.at++;
      this.at += 2;
      if (this.take('TO')) this.at++;
      if (this.take('DEFAULT')) this.at++;
      if (this.take('USING')) this.at++;
    }
  }
}
