export interface Position {
  line: number;
  column: number;
}

/** Offset → 1-based line and column in UTF-16 units; `\n`, `\r\n` and `\r` end lines, a tab counts one. */
export class LineMap {
  readonly #starts: number[] = [0];

  constructor(source: string) {
    for (let i = 0; i < source.length; i++) {
      const c = source.charCodeAt(i);
      if (c === 10 || (c === 13 && source.charCodeAt(i + 1) !== 10)) this.#starts.push(i + 1);
    }
  }

  /** Line of the character at `offset`. */
  line(offset: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }

  /** Offset behind the last character of a line, its break not counted. */
  endOf(line: number, source: string): number {
    let end = this.#starts[line] ?? source.length;
    while (line < this.#starts.length && end > 0 && /[\r\n]/.test(source[end - 1]!) && end > this.#starts[line - 1]!)
      end--;
    return end;
  }

  offset({ line, column }: Position): number {
    return this.#starts[line - 1]! + column - 1;
  }

  position(offset: number): Position {
    const line = this.line(offset);
    return { line, column: offset - this.#starts[line - 1]! + 1 };
  }
}
