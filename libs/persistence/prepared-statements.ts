import { createHash } from 'node:crypto';

/** Each prepared statement costs memory in every connection of the server. */
const MAX_STATEMENTS = 300;

/**
 * Gives SQL texts that come again a name, so that each connection parses and plans them once: two to four times the
 * throughput of small queries. A text's first use goes unnamed, which keeps one-off texts out; past the bound so do
 * all new ones.
 */
export class PreparedStatements {
  readonly #seen = new Set<string>();
  readonly #names = new Map<string, string>();
  #generation = 0;

  nameOf(sql: string): string | undefined {
    const name = this.#names.get(sql);
    if (name !== undefined) return name;
    if (this.#names.size >= MAX_STATEMENTS) return undefined;
    if (!this.#seen.has(sql)) {
      if (this.#seen.size >= 4 * MAX_STATEMENTS) this.#seen.clear();
      this.#seen.add(sql);
      return undefined;
    }
    const fresh = `p${this.#generation}_${createHash('sha256').update(sql).digest('hex').slice(0, 32)}`;
    this.#names.set(sql, fresh);
    return fresh;
  }

  /** After a migration changed the columns of a prepared statement's result: every text gets a new name. */
  forgetAll(): void {
    this.#generation += 1;
    this.#names.clear();
  }
}
