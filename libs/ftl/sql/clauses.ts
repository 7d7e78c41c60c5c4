import type { SqlToken } from '#libs/typesystem';

/** Words a table, view or alias name follows: a value there would be structure (contract 05 §5.3). */
const NAME_FOLLOWS: ReadonlySet<string> = new Set('JOIN INTO UPDATE TABLE VIEW INDEX SCHEMA DATABASE AS'.split(' '));

/** Words that end the list a FROM or BY began. */
const CLAUSES: ReadonlySet<string> = new Set(
  `WHERE GROUP HAVING ORDER LIMIT OFFSET FETCH UNION INTERSECT EXCEPT MINUS SET VALUES RETURNING WINDOW QUALIFY
  CONNECT START ROWS RANGE GROUPS FOR`.split(/\s+/),
);

/** SELECT, DELETE, FROM and BY are shorter. */
const LONGEST_CLAUSE = Math.max(...[...CLAUSES].map((word) => word.length));

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
  /** The last token and the one before it. */
  #last: SqlToken | undefined;
  #lead: SqlToken | undefined;

  /** `tokens`: significant ones, in order. Call `structural` at a value, then `advance` for every token. */
  advance(token: SqlToken): void {
    const level = this.#levels[this.#levels.length - 1]!;
    const { text } = token;
    if (token.kind === 'punctuation') {
      if (text === '(') this.#levels.push({ queries: false, list: null });
      else if (text === ')' && this.#levels.length > 1) this.#levels.pop();
      else if (text === ';') {
        level.queries = false;
        level.list = null;
      }
    } else if (token.kind === 'word' && text.length <= LONGEST_CLAUSE && this.#last?.text !== '.') {
      this.#word(level, text.toUpperCase());
    }
    this.#lead = this.#last;
    this.#last = token;
  }

  #word(level: Level, word: string): void {
    if (word === 'SELECT' || word === 'DELETE') {
      level.queries = true;
      level.list = null;
    } else if (word === 'FROM') level.list = level.queries && this.#previousWord() !== 'DISTINCT' ? 'from' : level.list;
    else if (word === 'BY') level.list = this.#opensItems() ? 'by' : level.list;
    else if (CLAUSES.has(word)) level.list = null;
  }

  #opensItems(): boolean {
    const word = this.#previousWord();
    return word === 'ORDER' || word === 'GROUP' || word === 'PARTITION' || word === 'SIBLINGS';
  }

  /** Upper-case word before the current token, null if something else stands there. */
  #previousWord(): string | null {
    return this.#last?.kind === 'word' ? this.#last.text.toUpperCase() : null;
  }

  /** Whether a value after the tokens seen so far, with `next` behind it, takes the place of structure. */
  structural(next: readonly SqlToken[]): boolean {
    const after = next[0];
    if (after?.text === '(' || after?.text === '.') return true;
    const level = this.#levels[this.#levels.length - 1]!;
    const word = this.#previousWord();
    const qualified = this.#lead?.text === '.';
    if (word !== null && !qualified) {
      if (NAME_FOLLOWS.has(word)) return true;
      if (word === 'FROM') return level.list === 'from';
      if (word === 'BY' && level.list === 'by') return endsItem(after);
    }
    if (this.#last?.text === ',') {
      return level.list === 'from' || (level.list === 'by' && endsItem(after));
    }
    return this.#wrappedItem(next);
  }

  /** `ORDER BY (value)` sorts by a constant as well. */
  #wrappedItem(next: readonly SqlToken[]): boolean {
    const open = this.#last;
    const lead = this.#lead;
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
