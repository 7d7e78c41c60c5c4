/** What a value of SQLite is in JavaScript: int64 as bigint, so that none passes through a double. */
export type SqliteValue = null | bigint | number | string | Uint8Array;

export interface SqliteColumn {
  name: string;
  /** Null for an expression. */
  origin: string | null;
  declaredType: string | null;
}

/** Requests of the server to a connection's child process; one at a time, each answered once, except `credit`. */
export type SqliteRequest =
  | { op: 'open'; file: string; readOnly: boolean; busyTimeoutMs: number; recover: boolean }
  /** The driver's own SQL, unguarded: catalog reads and transaction control. */
  | { op: 'query'; sql: string; values: readonly SqliteValue[] }
  /** A message ends at so many rows or bytes, whichever comes first; it holds one row at least. */
  | { op: 'cursor'; sql: string; values: readonly SqliteValue[]; rows: number; bytes: number }
  | { op: 'fetch' }
  | { op: 'closeCursor' }
  | { op: 'execute'; sql: string; values: readonly SqliteValue[] }
  /** Runs one prepared INSERT per row inside the transaction under way. */
  | { op: 'insert'; sql: string; rows: readonly (readonly SqliteValue[])[] };

export type SqliteReply =
  | { ok: true; op: 'open' | 'closeCursor' | 'insert' }
  | { ok: true; op: 'query'; rows: SqliteValue[][] }
  | { ok: true; op: 'cursor'; columns: SqliteColumn[] }
  /** Column-wise; `bytes` of all its values, `done` with the last rows. */
  | { ok: true; op: 'fetch'; columns: SqliteValue[][]; rowCount: number; bytes: number; done: boolean }
  | { ok: true; op: 'execute'; changes: bigint }
  | { ok: false; message: string; code: number | null; refused: boolean };
