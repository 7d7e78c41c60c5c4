import type { PlanReading } from '../../probe/query-plan.js';

/** H2 gives the statement back with a comment at each table that says how it is met; it guesses no rows. */
export const h2Plan: PlanReading = {
  statement: (sql) => `EXPLAIN ${sql}`,
  plan(rows) {
    const text = rows.map(([line]) => line ?? '').join('\n');
    if (text === '') return null;
    const met = [...text.matchAll(/\/\*\s*([\s\S]*?)\s*\*\//g)].map(([, comment]) =>
      (comment ?? '').replace(/\s+/g, ' '),
    );
    const scan = met.find((comment) => comment.includes('.tableScan')) ?? met[0];
    return { ...(scan === undefined ? {} : { scan }), text };
  },
};
