import pg from 'pg';
import { QueryFailedError } from 'typeorm';

const STATEMENT_LENGTH = 300;

/** A statement the metadata database refused. Carries no bound value: neither parameters nor the server's DETAIL line. */
export class DatabaseFailure extends Error {
  override readonly name = 'DatabaseFailure';

  constructor(
    message: string,
    /** SQLSTATE, or the operating system's code (`ECONNREFUSED`) when no server answered. */
    readonly code: string | undefined,
    /** Name of the violated constraint or unique index; for a missing value, the column. */
    readonly constraint: string | undefined,
    readonly table: string | undefined,
    /** The SQL text with its placeholders, cut. */
    readonly statement: string,
    /** No connection, or it broke: nothing is known about the outcome of a COMMIT that was under way. */
    readonly connectionLost: boolean,
  ) {
    super(message);
  }
}

export interface ConstraintViolation {
  kind: 'unique' | 'foreign_key' | 'check' | 'not_null';
  /** The constraint's or unique index's name; the column's name for `not_null`. */
  name: string;
}

const VIOLATIONS: Readonly<Record<string, ConstraintViolation['kind']>> = {
  '23505': 'unique',
  '23503': 'foreign_key',
  '23514': 'check',
  '23502': 'not_null',
};

/** Which rule of the schema a failed write broke, so that a service can answer with its own code; undefined otherwise. */
export function constraintOf(error: unknown): ConstraintViolation | undefined {
  if (!(error instanceof DatabaseFailure) || error.code === undefined || error.constraint === undefined)
    return undefined;
  const kind = VIOLATIONS[error.code];
  return kind && { kind, name: error.constraint };
}

/** The database could not be reached, refused the session, is shutting down, or the connection broke. */
export function isConnectionFailure(error: unknown): boolean {
  return error instanceof DatabaseFailure && error.connectionLost;
}

/** A lock or the statement was not granted in time, or two transactions waited for each other. */
export function isContention(error: unknown): boolean {
  return error instanceof DatabaseFailure && ['55P03', '57014', '40P01', '40001'].includes(error.code ?? '');
}

/**
 * Classes 08 (connection) and 57P0x (shutdown, crash, not yet started), 53 (no connection, memory or disk left: nothing
 * about the statement); 25006: after a failover the connection leads to what is a read-only replica now, and a new one to
 * its successor.
 */
const LOST = /^(?:08...|25006|53...|57P0[1-5])$/;

export function databaseFailure(error: unknown, statement: string): DatabaseFailure {
  if (error instanceof DatabaseFailure) return error;
  const cause = error instanceof QueryFailedError ? error.driverError : error;
  const cut = statement.trim().slice(0, STATEMENT_LENGTH);
  if (cause instanceof pg.DatabaseError) {
    const constraint = cause.constraint ?? (cause.code === '23502' ? cause.column : undefined);
    return new DatabaseFailure(
      withoutValue(cause),
      cause.code,
      constraint,
      cause.table,
      cut,
      LOST.test(cause.code ?? ''),
    );
  }
  const code = (cause as { code?: unknown }).code;
  const message = cause instanceof Error ? cause.message : String(cause);
  // What is neither the server's refusal nor a value that pg could not encode is the connection's failure.
  const lost = !(cause instanceof TypeError || cause instanceof RangeError);
  return new DatabaseFailure(message, typeof code === 'string' ? code : undefined, undefined, undefined, cut, lost);
}

/** Data errors (class 22) quote the offending value after the last colon. */
function withoutValue(error: pg.DatabaseError): string {
  if (!error.code?.startsWith('22')) return error.message;
  return error.message.replace(/: ".*$/s, '').replace(/"[^"]*"/gs, '"…"');
}
