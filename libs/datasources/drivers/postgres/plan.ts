import type { PlanReading } from '../../probe/query-plan.js';

const NODE = /^\s*(?:->\s+)?(.+?)\s+\(cost=\S+ rows=(\d+) width=\d+\)/;

/** `EXPLAIN`'s indented text: the first line is the whole, each `… Scan …` line a read. */
export const postgresPlan: PlanReading = {
  statement: (sql) => `EXPLAIN ${sql}`,
  plan(rows) {
    const lines = rows.map(([line]) => line ?? '');
    const nodes = lines.flatMap((line) => {
      const match = NODE.exec(line);
      return match ? [{ name: match[1] ?? '', rows: Number(match[2]) }] : [];
    });
    const [whole] = nodes;
    if (!whole) return null;
    const scans = nodes.filter(({ name }) => /\bScan\b/.test(name)).sort((left, right) => right.rows - left.rows);
    return {
      ...(scans[0] ? { scan: scans[0].name } : {}),
      estimated_rows: whole.rows,
      text: lines.join('\n'),
    };
  },
};
