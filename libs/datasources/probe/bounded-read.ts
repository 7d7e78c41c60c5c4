import { PenstockError } from '#libs/kernel';
import { type Column, RowEncoder, WireIssues } from '#libs/typesystem';
import { DriverFailure } from '../drivers/driver-failure.js';
import type { BoundStatement, Cursor, Lease } from '../drivers/driver.js';

export interface ReadBounds {
  /** Most rows that are given; one more is asked for, to know whether there are more. */
  maxRows: number;
  /** Most bytes of encoded rows. */
  maxBytes: number;
  /** Budget of the whole read, in milliseconds. */
  timeoutMs: number;
  /** The caller's own wish to stop. */
  signal: AbortSignal;
}

export interface BoundedRows {
  columns: readonly Column[];
  /** Each row as a JSON array in wire form (contract 01 §5). */
  rows: string[];
  /** More rows were there than either bound let through. */
  truncated: boolean;
}

/**
 * Reads the first rows of one query and stops. The caller releases the lease, with `destroy` when this rejected.
 * @throws PenstockError `pipeline.node.query_timeout` once the budget is spent; DriverFailure for all else, also when
 * the caller's signal fired.
 */
export async function readBounded(
  source: Pick<Lease, 'openCursor'>,
  statement: BoundStatement,
  bounds: ReadBounds,
): Promise<BoundedRows> {
  const budget = AbortSignal.timeout(bounds.timeoutMs);
  const signal = AbortSignal.any([bounds.signal, budget]);
  const started = performance.now();
  try {
    const cursor = await source.openCursor(statement, { fetchSize: bounds.maxRows + 1, signal });
    try {
      return await firstRows(cursor, bounds, signal);
    } finally {
      await cursor.close();
    }
  } catch (error) {
    if (!(error instanceof DriverFailure) || !budget.aborted || bounds.signal.aborted) throw error;
    throw readTimedOut(bounds.timeoutMs, started, error);
  }
}

/** The budget of a read is spent; `started` is a reading of `performance.now()`. */
export function readTimedOut(
  timeoutMs: number,
  started: number,
  cause: unknown,
  more: Record<string, unknown> = {},
): PenstockError {
  return new PenstockError('pipeline.node.query_timeout', {
    message: `The query did not finish within ${timeoutMs} ms. Narrow it, or allow it more time.`,
    details: { wall_ms: Math.round(performance.now() - started), ...more },
    cause,
  });
}

async function firstRows(cursor: Cursor, bounds: ReadBounds, signal: AbortSignal): Promise<BoundedRows> {
  const { columns } = cursor;
  const encoder = new RowEncoder(columns);
  const issues = new WireIssues();
  const decoder = new TextDecoder();
  const rows: string[] = [];
  let bytesLeft = bounds.maxBytes;
  for (let batch = await cursor.next(signal); batch !== null; batch = await cursor.next(signal)) {
    const { bytes, ends } = encoder.encode(batch, issues);
    let start = 0;
    for (const end of ends) {
      bytesLeft -= end - start;
      if (rows.length >= bounds.maxRows || bytesLeft < 0) return { columns, rows, truncated: true };
      rows.push(decoder.decode(bytes.subarray(start, end)));
      start = end + 1;
    }
  }
  return { columns, rows, truncated: false };
}
