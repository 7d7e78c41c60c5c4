import { TableProblem } from './table-scan.js';

/** A column of a Parquet file, or a part of one, as the file's footer has it. */
export interface FooterNode {
  name: string;
  id: number | null;
  /** The engine's type; null for what is nested. */
  type: string | null;
  /** The converted or logical type; empty without one. */
  kind: string;
  repeated: boolean;
  children: FooterNode[];
}

/** What {@link readFooters} reads, of `parquet_schema`. */
export const FOOTER_COLUMNS =
  "file_name, name, field_id, duckdb_type, num_children, repetition_type, coalesce(converted_type, logical_type, '')";

/**
 * The root of every file's footer.
 *
 * @param rows of {@link FOOTER_COLUMNS}, by file and `column_id`
 */
export function readFooters(rows: readonly (string | null)[][]): Map<string, FooterNode> {
  const footers = new Map<string, FooterNode>();
  for (let at = 0; at < rows.length;) {
    const path = rows[at]?.[0] ?? '';
    const { node, next } = readNode(rows, at, path);
    footers.set(path, node);
    at = next;
  }
  return footers;
}

function readNode(rows: readonly (string | null)[][], at: number, path: string): { node: FooterNode; next: number } {
  const [file, name, id, type, children, repetition, kind] = rows[at] ?? [];
  if (file !== path) throw new TableProblem('A data file has a footer that ends early.');
  const node: FooterNode = {
    name: name ?? '',
    id: id == null ? null : Number(id),
    type: type ?? null,
    kind: kind ?? '',
    repeated: repetition === 'REPEATED',
    children: [],
  };
  let next = at + 1;
  for (let count = Number(children ?? 0); count > 0; count -= 1) {
    const child = readNode(rows, next, path);
    node.children.push(child.node);
    next = child.next;
  }
  return { node, next };
}
