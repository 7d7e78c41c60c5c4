import { isJsonObject, readJson, type JsonObject, type JsonValue } from '#libs/kernel';

import type { PlanReading } from '../../probe/query-plan.js';
import { countOf } from '../../statistics/statistics.js';

interface PlanNode {
  name: string;
  table: string | undefined;
  rows: number | undefined;
  /** Files that a scan reads of those it has, where a filter on their folders spares it some. */
  files: { scanned: number; total: number } | undefined;
}

/** The engine's plan as JSON: a tree of `{name, children, extra_info}`. */
export const duckdbPlan: PlanReading = {
  statement: (sql) => `EXPLAIN (FORMAT JSON) ${sql}`,
  plan(rows) {
    const text = rows[0]?.[1];
    if (text == null) return null;
    const nodes = flattened(readJson(text));
    const whole = nodes.find(({ rows: estimate }) => estimate !== undefined);
    const [scan] = nodes
      .filter(({ name }) => name.includes('SCAN') || name.startsWith('READ_'))
      .sort((left, right) => (right.rows ?? 0) - (left.rows ?? 0));
    return {
      ...(scan ? { scan: scan.table === undefined ? scan.name : `${scan.name} ${scan.table}` } : {}),
      ...(whole?.rows === undefined ? {} : { estimated_rows: whole.rows }),
      ...partitions(nodes),
      text,
    };
  },
};

/** What the engine spares is files, so a file of a partitioned table counts as a partition. */
function partitions(nodes: readonly PlanNode[]): { partitions_scanned?: number; partitions_total?: number } {
  const pruned = nodes.flatMap(({ files }) => files ?? []);
  if (pruned.length === 0) return {};
  return {
    partitions_scanned: pruned.reduce((sum, { scanned }) => sum + scanned, 0),
    partitions_total: pruned.reduce((sum, { total }) => sum + total, 0),
  };
}

function filesOf(text: JsonValue | undefined): PlanNode['files'] {
  const [, scanned, total] = typeof text === 'string' ? (/^(\d+)\/(\d+)$/.exec(text) ?? []) : [];
  return scanned === undefined ? undefined : { scanned: Number(scanned), total: Number(total) };
}

/** Parents before children. */
function flattened(value: JsonValue): PlanNode[] {
  if (Array.isArray(value)) return value.flatMap(flattened);
  if (!isJsonObject(value)) return [];
  const info: JsonObject = isJsonObject(value['extra_info']) ? value['extra_info'] : {};
  const { Table: table, 'Estimated Cardinality': estimate } = info;
  const node: PlanNode = {
    name: typeof value['name'] === 'string' ? value['name'].trim() : '',
    table: typeof table === 'string' ? table : undefined,
    rows: typeof estimate === 'string' ? countOf(estimate) : undefined,
    files: filesOf(info['Scanning Files']),
  };
  return [node, ...flattened(value['children'] ?? [])];
}
