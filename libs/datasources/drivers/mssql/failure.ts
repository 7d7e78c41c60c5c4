import { DriverFailure, errnoOf, type DriverFailureKind } from '../driver-failure.js';

/** Server error numbers that say more than "the statement failed". */
const KINDS: ReadonlyMap<number, DriverFailureKind> = new Map<number, DriverFailureKind>([
  [208, 'missing_table'],
  [4902, 'missing_table'],
  [2760, 'missing_table'], // schema
  [229, 'permission'],
  [230, 'permission'],
  [262, 'permission'],
  [297, 'permission'],
  [300, 'permission'],
  [916, 'permission'],
  [1222, 'timeout'], // lock
  [18456, 'connection'],
  [4060, 'connection'], // database cannot be opened
  [40197, 'connection'],
  [40501, 'connection'],
  [40613, 'connection'],
  [10928, 'connection'],
  [10929, 'connection'],
]);

/** From this severity on the server closes the connection. */
const FATAL = 20;

interface TediousError extends Error {
  number?: number;
  class?: number;
}

/** What `tedious` rejected with, as every driver reports it. */
export function mssqlFailure(error: unknown): DriverFailure {
  if (error instanceof DriverFailure) return error;
  const { number, class: severity = 0, message } = error as TediousError;
  const code = errnoOf(error);
  if (code === 'ECANCEL') return new DriverFailure('cancelled', 'The statement was cancelled.', { cause: error });
  const known = number === undefined ? undefined : KINDS.get(number);
  // A server error has a number; everything without one happened to the connection.
  const fallback = number !== undefined && severity < FATAL ? 'other' : 'connection';
  const driverCode = number === undefined ? code : String(number);
  return new DriverFailure(known ?? fallback, message || 'The connection failed.', { driverCode, cause: error });
}

/** While logging in, whatever went wrong means that the connection was not made. */
export function loginFailure(error: unknown): DriverFailure {
  const failure = mssqlFailure(error);
  if (failure.kind === 'connection') return failure;
  return new DriverFailure('connection', failure.message, { driverCode: errnoOf(error) ?? 'ELOGIN', cause: error });
}
