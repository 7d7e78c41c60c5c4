/** What an engine says it would do for a query; figures are its guesses (06 §9). */
export interface QueryPlan {
  /** The heaviest read, in the engine's own words. */
  scan?: string;
  estimated_rows?: number;
  /** The engine's own text, at most 4,096 characters. */
  raw: string;
  partitions_scanned?: number;
  partitions_total?: number;
}

/** How a dialect explains a query. An engine without one gives no plan. */
export interface PlanReading {
  /** The statement that explains `sql`; placeholders stay as they are. */
  statement(sql: string): string;
  /** Reads the answer's rows; null when they hold no plan. */
  plan(rows: readonly (readonly (string | null)[])[]): (Omit<QueryPlan, 'raw'> & { text: string }) | null;
}

/** Longest plan text that is given. */
const MAX_RAW_CHARS = 4096;

export function queryPlan(reading: PlanReading, rows: readonly (readonly (string | null)[])[]): QueryPlan | null {
  const read = reading.plan(rows);
  if (!read) return null;
  const { text, ...figures } = read;
  return { ...figures, raw: text.slice(0, MAX_RAW_CHARS).toWellFormed() };
}
