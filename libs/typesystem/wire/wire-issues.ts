import type { Column } from '../canonical-type.js';

/** One warning per column that held values with no wire form (contract 01 §5.2). */
export interface UnrepresentableWarning {
  code: 'type_mapping.value_unrepresentable';
  column: string;
  count: number;
}

/** Counts, by column ordinal, the values that were written as null because they have no wire form. */
export class WireIssues {
  readonly #counts: number[] = [];

  add(ordinal: number, count = 1): void {
    this.#counts[ordinal] = (this.#counts[ordinal] ?? 0) + count;
  }

  count(ordinal: number): number {
    return this.#counts[ordinal] ?? 0;
  }

  warnings(columns: readonly Column[]): UnrepresentableWarning[] {
    return columns.flatMap(({ name }, ordinal) => {
      const count = this.count(ordinal);
      return count > 0 ? [{ code: 'type_mapping.value_unrepresentable' as const, column: name, count }] : [];
    });
  }
}
