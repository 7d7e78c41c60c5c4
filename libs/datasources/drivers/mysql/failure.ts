import { DriverFailure, errnoOf, type DriverFailureKind } from '../driver-failure.js';

/** Server error numbers that say more than "the statement failed". */
const KINDS: ReadonlyMap<number, DriverFailureKind> = new Map<number, DriverFailureKind>([
  [1040, 'connection'], // too many connections
  [1042, 'connection'],
  [1043, 'connection'], // bad handshake
  [1045, 'connection'], // access denied for the login
  [1053, 'connection'], // shutdown in progress
  [1129, 'connection'], // host blocked
  [1130, 'connection'], // host not allowed
  [1152, 'connection'],
  [1158, 'connection'], // network errors
  [1159, 'connection'],
  [1160, 'connection'],
  [1161, 'connection'],
  [1184, 'connection'],
  [1203, 'connection'], // the user's connections
  [1226, 'connection'], // the user's resources
  [1698, 'connection'], // access denied by plugin
  [1927, 'connection'], // killed
  [4031, 'connection'], // idle for too long
  [1044, 'permission'], // database
  [1142, 'permission'], // table
  [1143, 'permission'], // column
  [1227, 'permission'], // privilege
  [1370, 'permission'], // routine
  [1051, 'missing_table'],
  [1146, 'missing_table'],
  [1205, 'timeout'], // lock wait
  [1907, 'timeout'],
  [1969, 'timeout'], // MariaDB's max_statement_time
  [3024, 'timeout'], // MySQL's max_execution_time
]);

interface MysqlError extends Error {
  errno?: number;
  code?: string;
  fatal?: boolean;
}

/** What `mysql2` rejected with, as every driver reports it. */
export function mysqlFailure(error: unknown): DriverFailure {
  if (error instanceof DriverFailure) return error;
  const { errno, fatal, message } = error as MysqlError;
  const driverCode = errnoOf(error);
  const known = typeof errno === 'number' ? KINDS.get(errno) : undefined;
  // A server error has a number; everything without one happened to the connection.
  const fallback = typeof errno === 'number' && errno > 0 && fatal !== true ? 'other' : 'connection';
  return new DriverFailure(known ?? fallback, message || 'The connection failed.', { driverCode, cause: error });
}

/** While logging in, whatever the server says means that the connection was not made. */
export function loginFailure(error: unknown): DriverFailure {
  const failure = mysqlFailure(error);
  if (failure.kind === 'connection' || failure.kind === 'permission') return failure;
  return new DriverFailure('connection', failure.message, { driverCode: failure.driverCode, cause: error });
}
