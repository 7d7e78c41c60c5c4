import { DriverFailure, errnoOf, type DriverFailureKind } from '../driver-failure.js';

/** Server error numbers that say more than "the statement failed". */
const KINDS: ReadonlyMap<number, DriverFailureKind> = new Map<number, DriverFailureKind>([
  [942, 'missing_table'],
  [1031, 'permission'],
  [1013, 'cancelled'],
  [54, 'timeout'], // busy, NOWAIT
  [30006, 'timeout'],
  [28, 'connection'], // killed
  [1012, 'connection'], // not logged on
  [1017, 'connection'], // user or password
  [1033, 'connection'], // starting or stopping
  [1034, 'connection'], // not available
  [1089, 'connection'], // shutdown
  [1090, 'connection'],
  [2396, 'connection'], // idle for too long
  [3113, 'connection'],
  [3114, 'connection'],
  [3135, 'connection'],
  [12170, 'connection'],
  [12505, 'connection'],
  [12514, 'connection'],
  [12516, 'connection'],
  [12520, 'connection'],
  [12541, 'connection'],
  [28000, 'connection'], // account locked
  [28001, 'connection'], // password expired
]);

interface OracleError extends Error {
  errorNum?: number;
  code?: string;
}

/** What `oracledb` rejected with, as every driver reports it. */
export function oracleFailure(error: unknown): DriverFailure {
  if (error instanceof DriverFailure) return error;
  const { errorNum, message } = error as OracleError;
  const driverCode = errnoOf(error);
  const isServers = driverCode?.startsWith('ORA-') === true;
  const known = isServers && errorNum !== undefined ? KINDS.get(errorNum) : undefined;
  const fallback =
    isServers || (driverCode?.startsWith('NJS-') === true && !isConnection(driverCode)) ? 'other' : 'connection';
  return new DriverFailure(known ?? fallback, shortened(message), { driverCode, cause: error });
}

/** NJS-5xx speak of the network; NJS-003 of a connection that is closed. */
function isConnection(code: string): boolean {
  return /^NJS-5\d\d$/.test(code) || code === 'NJS-003';
}

/** Later lines point at help pages. */
function shortened(message: string): string {
  return message.split('\n')[0] || 'The connection failed.';
}

/** While logging in, whatever went wrong means that the connection was not made. */
export function loginFailure(error: unknown): DriverFailure {
  const failure = oracleFailure(error);
  if (failure.kind === 'connection') return failure;
  return new DriverFailure('connection', failure.message, { driverCode: failure.driverCode, cause: error });
}
