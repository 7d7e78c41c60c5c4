import type { ReadableColumn } from './readable-column.js';
import type { StagingConnection } from './staging-connection.js';

/** What one native call may bring into this process at most, single rows aside. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Canonical types whose values may be of any length, and what tells it in bytes. */
const LENGTHS: ReadonlyMap<string, string> = new Map([
  ['STRING', 'strlen'],
  ['BINARY', 'octet_length'],
]);

/**
 * How wide the rows of a materialised result are. What was read so far says nothing of what comes: a thousand rows of ten
 * megabytes may stand behind a thousand narrow ones, and a range is read in one call, into memory that no limit of the
 * engine counts. So the engine is asked, once for the widest row, and range by range only where that one is wide.
 */
export class RowWidths {
  private constructor(
    private readonly connection: StagingConnection,
    private readonly table: string,
    /** Bytes of one row, over the columns of any length; undefined when there is none of them. */
    private readonly bytesOfRow: string | undefined,
    private readonly widest: number,
  ) {}

  static async measure(
    connection: StagingConnection,
    table: string,
    columns: readonly ReadableColumn[],
    signal: AbortSignal,
  ): Promise<RowWidths> {
    const lengths = columns.flatMap(({ column, projection }) => {
      const length = LENGTHS.get(column.type);
      return length === undefined ? [] : [`COALESCE(${length}(${projection}), 0)`];
    });
    if (lengths.length === 0) return new RowWidths(connection, table, undefined, 0);
    const bytesOfRow = lengths.join(' + ');
    const widest = await ask(connection, `SELECT max(${bytesOfRow}) FROM ${table}`, signal);
    return new RowWidths(connection, table, bytesOfRow, widest);
  }

  /** As many of the `wanted` rows from `from` on as may come in one call; at least one. */
  async fitting(from: number, wanted: number, signal: AbortSignal): Promise<number> {
    let size = wanted;
    while (size > 1 && this.widest * size > MOST_BYTES && (await this.#bytes(from, size, signal)) > MOST_BYTES) {
      size = Math.ceil(size / 4);
    }
    return size;
  }

  #bytes(from: number, size: number, signal: AbortSignal): Promise<number> {
    const range = `rowid >= ${from} AND rowid < ${from + size}`;
    return ask(this.connection, `SELECT sum(${this.bytesOfRow}) FROM ${this.table} WHERE ${range}`, signal);
  }
}

/** One number; of no rows it is 0. */
async function ask(connection: StagingConnection, sql: string, signal: AbortSignal): Promise<number> {
  const result = await connection.run(sql, signal);
  return Number(result.getChunk(0).getColumnValues(0)[0] ?? 0);
}
