import type { PlanReading } from '../../probe/query-plan.js';

/** `EXPLAIN QUERY PLAN` tells how tables are met, not how many rows. Its last cell is the sentence. */
export const sqlitePlan: PlanReading = {
  statement: (sql) => `EXPLAIN QUERY PLAN ${sql}`,
  plan(rows) {
    const lines = rows.map((row) => row.at(-1) ?? '');
    if (lines.length === 0) return null;
    const scan = lines.find((line) => line.startsWith('SCAN ')) ?? lines.find((line) => line.startsWith('SEARCH '));
    return { ...(scan === undefined ? {} : { scan }), text: lines.join('\n') };
  },
};
