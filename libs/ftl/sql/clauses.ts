import type { SqlToken } from '#libs/typesystem';

/** Words a table, view or alias name follows: a value there would be structure (contract 05 §5.3). */
const NAME_FOLLOWS: ReadonlySet<string> = new Set('JOIN INTO UPDATE TABLE VIEW INDEX SCHEMA DATABASE AS'.split(' '));

/** Words that end the list a FROM or BY began. */
const CLAUSES: ReadonlySet<string> = new Set(
  `WHERE GROUP HAVING ORDER LIMIT OFFSET FETCH UNION INTERSECT EXCEPT MINUS SET VALUES RETURNING WINDOW QUALIFY
  CONNECT START ROWS RANGE GROUPS FOR`.split(/\s+/),
);

/** Words that go on with an expression: an item that continues is not a bare value. */
const CONTINUES: ReadonlySet<string> = new Set(
  'IN LIKE ILIKE IS BETWEEN AND OR NOT SIMILAR REGEXP RLIKE GLOB DIV MOD XOR OVERLAPS'.split(' '),
);

/** One parenthesis level of a statement. */
interface Level {
  /** Has a SELECT or DELETE of its own, so that FROM begins a list of tables. */
  queries: boolean;
  list: 'from' | 'by' | null;
}

/** Answers, token by token, whether a value would stand where structure belongs. */
export class ClauseTracker {
  readonly #levels: Level[] = [{ queries: false, list: null }];
  readonly #before: SqlToken[] = [];

  /** `tokens`: significant ones, in order. Call `structural` at a value, then `advance` for every token. */
  advance(token: SqlToken): void {
    const level = this.#levels[this.#levels.length - 1]!;
    const text = token.kind === 'word' ? token.text.toUpperCase() : token.text;
    if (token.kind === 'punctuation') {
      if (text === '(') this.#levels.push({ queries: false, list: null });
      else if (text === ')' && this.#levels.length > 1) this.#levels.pop();
      else if (text === ';') Object.assign(level, { queries: false, list: null });
    } else if (token.kind === 'word' && !this.#isQualified()) {
      this.#word(level, text);
    }
    this.#before.push(token);
    if (this.#before.length > 3) this.#before.shift();
  }

  #word(level: Level, word: string): void {
    if (word === 'SELECT' || word === 'DELETE') Object.assign(level, { queries: true, list: null });
    else if (word === 'FROM') level.list = level.queries && this.#previousWord() !== 'DISTINCT' ? 'from' : level.list;
    else if (word === 'BY') level.list = this.#opensItems() ? 'by' : level.list;
    else if (CLAUSES.has(word)) level.list = null;
  }

  #opensItems(): boolean {
    const word = this.#previousWord();
    return word === 'ORDER' || word === 'GROUP' || word === 'PARTITION' || word === 'SIBLINGS';
  }

  /** Upper-case word before the current token, null if something else stands there. */
  #previousWord(back = 1): string | null {
    const token = this.#before[this.#before.length - back];
    return token?.kind === 'word' ? token.text.toUpperCase() : null;
  }

  #isQualified(): boolean {
    return this.#before[this.#before.length - 1]?.text === '.';
  }

  /** Whether a value after the tokens seen so far, with `next` behind it, takes the place of structure. */
  structural(next: readonly SqlToken[]): boolean {
    const after = next[0];
    if (after?.text === '(' || after?.text === '.') return true;
    const level = this.#levels[this.#levels.length - 1]!;
    const word = this.#previousWord();
    const qualified = this.#before[this.#before.length - 2]?.text === '.';
    if (word !== null && !qualified) {
      if (NAME_FOLLOWS.has(word)) return true;
      if (word === 'FROM') return level.list === 'from';
      if (word === 'BY' && level.list === 'by') return endsItem(after);
    }
    if (this.#before[this.#before.length - 1]?.text === ',') {
      return level.list === 'from' || (level.list === 'by' && endsItem(after));
    }
    return this.#wrappedItem(next);
  }

  /** `ORDER BY (value)` sorts by a constant as well. */
  #wrappedItem(next: readonly SqlToken[]): boolean {
    const open = this.#before[this.#before.length - 1];
    const lead = this.#before[this.#before.length - 2];
    if (open?.text !== '(' || next[0]?.text !== ')') return false;
    const outer = this.#levels[this.#levels.length - 2];
    const starts = lead?.text === ',' || (lead?.kind === 'word' && lead.text.toUpperCase() === 'BY');
    return outer?.list === 'by' && starts && endsItem(next[1]);
  }
}

function endsItem(after: SqlToken | undefined): boolean {
  if (after === undefined) return true;
  if (after.kind === 'word') return !CONTINUES.has(after.text.toUpperCase());
  return after.text === ',' || after.text === ')' || after.text === ';';
}
