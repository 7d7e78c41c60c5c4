import { RawJson } from '#libs/kernel';
import type { Column } from '#libs/typesystem';
import type { BoundedRows } from './bounded-read.js';
import type { QueryPlan } from './query-plan.js';

export interface ProbeColumn {
  name: string;
  type: string;
  precision?: number;
  scale?: number;
  nullable?: boolean;
}

/** The first rows of a table; each row is an array of wire values (contract 01 §5). */
export interface PreviewView {
  schema: ProbeColumn[];
  rows: RawJson[];
  row_count: number;
  /** There were more rows than were asked for, or than fit. */
  truncated: boolean;
}

export interface ProbeView extends PreviewView {
  /** From the wait for a connection to the last row. */
  wall_ms: number;
  plan: QueryPlan | null;
}

export function previewView({ columns, rows, truncated }: BoundedRows): PreviewView {
  return {
    schema: columns.map(probeColumn),
    rows: rows.map((row) => new RawJson(row)),
    row_count: rows.length,
    truncated,
  };
}

function probeColumn({ name, type, precision, scale, nullable }: Column): ProbeColumn {
  return {
    name,
    type,
    ...(precision === undefined ? {} : { precision }),
    ...(scale === undefined ? {} : { scale }),
    ...(nullable === undefined ? {} : { nullable }),
  };
}
