/**
 * One SQLite connection in a process of its own: SQLite blocks its thread and cannot be interrupted from outside, so the
 * server stops a statement by killing this process (06 §2). Node runs this file as it stands, from the sources too, so it
 * imports nothing of ours but types.
 */
import { constants, DatabaseSync, type StatementSync } from 'node:sqlite';

import type { SqliteReply, SqliteRequest, SqliteValue } from './protocol.js';

const SQLITE_AUTH = 23;
const NEEDS_RECOVERY = new Set([264, 776]); // SQLITE_READONLY_RECOVERY, SQLITE_READONLY_ROLLBACK

const READ_ACTIONS = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
]);
const NEVER = new Set([
  constants.SQLITE_ATTACH,
  constants.SQLITE_DETACH,
  constants.SQLITE_PRAGMA,
  // A lease's transactions are the driver's own: an author's COMMIT would cut a write-back in two.
  constants.SQLITE_TRANSACTION,
  constants.SQLITE_SAVEPOINT,
]);

let database: DatabaseSync | null = null;
let readOnly = true;
/** What the authorizer lets pass for the statement being prepared. */
let guard: 'own' | 'read' | 'write' = 'own';
let cursor: { rows: Iterator<SqliteValue[]>; width: number; batch: number; bytes: number } | null = null;

function authorize(action: number, first: string | null, second: string | null): number {
  if (guard === 'own') return constants.SQLITE_OK;
  // Full-text tables ask for it themselves while they are read; it changes nothing.
  if (action === constants.SQLITE_PRAGMA && first === 'data_version') return constants.SQLITE_OK;
  if (NEVER.has(action)) return constants.SQLITE_DENY;
  if (action === constants.SQLITE_FUNCTION && (second ?? first)?.toLowerCase() === 'load_extension') {
    return constants.SQLITE_DENY;
  }
  return guard === 'write' || READ_ACTIONS.has(action) ? constants.SQLITE_OK : constants.SQLITE_DENY;
}

function open(file: string, asReadOnly: boolean, timeout: number): DatabaseSync {
  const opened = new DatabaseSync(file, { readOnly: asReadOnly, timeout, allowExtension: false });
  try {
    // The file is first read here: a damaged or foreign one, or one that needs recovery, shows now.
    opened.prepare('SELECT count(*) FROM sqlite_schema').get();
  } catch (error) {
    opened.close();
    throw error;
  }
  return opened;
}

function openRecovering(request: Extract<SqliteRequest, { op: 'open' }>): DatabaseSync {
  try {
    return open(request.file, request.readOnly, request.busyTimeoutMs);
  } catch (error) {
    if (!request.recover || !NEEDS_RECOVERY.has(codeOf(error) ?? -1)) throw error;
    // A killed writer left its journal: only a writing connection may roll it back.
    open(request.file, false, request.busyTimeoutMs).close();
    return open(request.file, request.readOnly, request.busyTimeoutMs);
  }
}

/** The guard also stands while a statement runs: some parts of it are compiled only then. */
function guarded<T>(as: typeof guard, work: () => T): T {
  guard = as;
  try {
    return work();
  } finally {
    guard = 'own';
  }
}

function prepare(sql: string): StatementSync {
  const statement = database!.prepare(sql);
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  return statement;
}

function answer(request: SqliteRequest): SqliteReply {
  switch (request.op) {
    case 'open': {
      readOnly = request.readOnly;
      database = openRecovering(request);
      database.setAuthorizer(authorize);
      return { ok: true, op: 'open' };
    }
    case 'query': {
      const rows = prepare(request.sql).all(...request.values) as unknown as SqliteValue[][];
      return { ok: true, op: 'query', rows };
    }
    case 'cursor':
      return guarded('read', () => openCursor(request));
    case 'fetch':
      return guarded('read', fetch);
    case 'closeCursor':
      cursor?.rows.return?.();
      cursor = null;
      return { ok: true, op: 'closeCursor' };
    case 'execute':
      return guarded(readOnly ? 'read' : 'write', () => {
        const { changes } = prepare(request.sql).run(...request.values);
        return { ok: true, op: 'execute', changes: BigInt(changes) };
      });
    case 'insert':
      return guarded('write', () => {
        const statement = prepare(request.sql);
        for (const row of request.rows) statement.run(...row);
        return { ok: true, op: 'insert' };
      });
  }
}

function openCursor(request: Extract<SqliteRequest, { op: 'cursor' }>): SqliteReply {
  const statement = prepare(request.sql);
  const columns = statement.columns().map((column) => ({
    name: column.name,
    origin: column.column,
    declaredType: column.type,
  }));
  const rows = statement.iterate(...request.values) as unknown as Iterator<SqliteValue[]>;
  cursor = { rows, width: columns.length, batch: request.rows, bytes: request.bytes };
  return { ok: true, op: 'cursor', columns };
}

function fetch(): SqliteReply {
  if (!cursor) return { ok: true, op: 'fetch', columns: [], rowCount: 0, bytes: 0, done: true };
  const columns: SqliteValue[][] = Array.from({ length: cursor.width }, () => []);
  const { width, batch, bytes: most } = cursor;
  let rowCount = 0;
  let bytes = 0;
  let done = false;
  while (rowCount < batch && bytes < most) {
    const step = cursor.rows.next();
    if (step.done) {
      done = true;
      cursor = null;
      break;
    }
    for (let column = 0; column < width; column += 1) {
      const value = step.value[column]!;
      columns[column]!.push(value);
      bytes += sizeOf(value);
    }
    rowCount += 1;
  }
  return { ok: true, op: 'fetch', columns, rowCount, bytes, done };
}

/** Bytes of a value on its way to the server, about: a text travels with one or two for each character. */
function sizeOf(value: SqliteValue): number {
  if (typeof value === 'string') return value.length * 2;
  return value instanceof Uint8Array ? value.byteLength : 8;
}

function codeOf(error: unknown): number | null {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return null;
  return typeof error.errcode === 'number' ? error.errcode : null;
}

process.on('message', (request: SqliteRequest) => {
  let reply: SqliteReply;
  try {
    reply = answer(request);
  } catch (error) {
    const code = codeOf(error);
    const message = error instanceof Error ? error.message : String(error);
    reply = { ok: false, message, code, refused: code === SQLITE_AUTH };
  }
  process.send!(reply);
});
// The server is gone: nobody will ask again.
process.on('disconnect', () => process.exit(0));
