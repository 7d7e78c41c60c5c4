import { isExactNumber, isJsonObject, readJson, type JsonValue } from '#libs/kernel';

import type { PlanReading } from '../../probe/query-plan.js';

interface TableRead {
  name: string;
  access: string;
  rows: number | undefined;
}

/** `EXPLAIN FORMAT=JSON`: MySQL and MariaDB name the same things differently, and both name tables alike. */
export const mysqlPlan: PlanReading = {
  statement: (sql) => `EXPLAIN FORMAT=JSON ${sql}`,
  plan(rows) {
    const text = rows[0]?.[0];
    if (text == null) return null;
    const reads = tableReads(readJson(text));
    const [largest] = reads.toSorted((left, right) => (right.rows ?? 0) - (left.rows ?? 0));
    return {
      ...(largest ? { scan: `${largest.access} ${largest.name}` } : {}),
      ...(largest?.rows === undefined ? {} : { estimated_rows: largest.rows }),
      text,
    };
  },
};

function tableReads(value: JsonValue): TableRead[] {
  if (Array.isArray(value)) return value.flatMap(tableReads);
  if (!isJsonObject(value)) return [];
  const { table_name: name, access_type: access, rows, rows_examined_per_scan: examined } = value;
  const estimate = rows ?? examined;
  const own =
    typeof name === 'string' && typeof access === 'string'
      ? [{ name, access, rows: isExactNumber(estimate) ? Number(estimate) : undefined }]
      : [];
  return [...own, ...Object.values(value).flatMap(tableReads)];
}
