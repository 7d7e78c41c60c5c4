import { DriverFailure, type DriverFailureKind } from '../driver-failure.js';

/** Primary result codes of SQLite; the extended ones carry them in their low byte. */
const KINDS: Readonly<Record<number, DriverFailureKind>> = {
  5: 'connection', // BUSY
  6: 'connection', // LOCKED
  10: 'connection', // IOERR
  14: 'connection', // CANTOPEN
  23: 'permission', // AUTH
  26: 'connection', // NOTADB
};
const NAMES: Readonly<Record<number, string>> = {
  1: 'SQLITE_ERROR',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  19: 'SQLITE_CONSTRAINT',
  20: 'SQLITE_MISMATCH',
  23: 'SQLITE_AUTH',
  26: 'SQLITE_NOTADB',
};

/** "no such table" has no result code of its own; SQLite's texts are part of its stable interface. */
const MISSING_TABLE = /^no such table: /;

export function sqliteFailure(message: string, code: number | null): DriverFailure {
  const primary = code === null ? -1 : code & 0xff;
  const kind = primary === 1 && MISSING_TABLE.test(message) ? 'missing_table' : (KINDS[primary] ?? 'other');
  return new DriverFailure(kind, message, {
    driverCode: NAMES[primary] ?? (code === null ? undefined : `SQLITE_${code}`),
  });
}
