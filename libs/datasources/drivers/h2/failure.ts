import { DriverFailure, type DriverFailureKind } from '../driver-failure.js';

/** SQLSTATE or H2's own number → kind (06 §8); the rest is what PostgreSQL's classes say. */
const KINDS: ReadonlyMap<string, DriverFailureKind> = new Map<string, DriverFailureKind>([
  ['90096', 'permission'],
  ['90040', 'permission'], // admin rights
  ['42S02', 'missing_table'],
  ['42S03', 'missing_table'],
  ['42S04', 'missing_table'], // candidates in an empty database
  ['90079', 'missing_table'], // schema
  ['90007', 'connection'], // closed
  ['90098', 'connection'], // database closed
  ['90121', 'connection'], // shutting down
  ['90020', 'connection'], // file locked
  ['HYT00', 'timeout'], // lock
  ['50200', 'timeout'],
]);

/** H2's messages end in the statement, which the failure record shows by itself, and in a number. */
function shortened(message: string): string {
  return message.replace(/; SQL statement:\n[^]*$/, '').replace(/ \[\d+-\d+\]$/, '');
}

/** The server's error by H2's own codes. */
export function h2Failure(error: unknown): unknown {
  if (!(error instanceof DriverFailure) || error.kind === 'connection') return error;
  const { driverCode, reason, commitUnknown, cause } = error;
  const kind = KINDS.get(driverCode ?? '') ?? error.kind;
  return new DriverFailure(kind, shortened(error.message), { driverCode, reason, commitUnknown, cause });
}

/** The server closes the socket without a word, whatever it does not like about a login. */
export function h2LoginFailure(error: unknown): unknown {
  if (!(error instanceof DriverFailure) || error.kind !== 'connection' || error.driverCode !== undefined) return error;
  return new DriverFailure(
    'connection',
    'The H2 server closed the connection: a wrong user or password, a database that does not exist, or one that was ' +
      'not created with MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE.',
    { driverCode: 'LOGIN_REFUSED', cause: error },
  );
}
