import { catalogueEntry, type ErrorCode } from './error-catalogue.js';

/** What a client sees of an error, on every door: REST envelope, GraphQL `extensions`, MCP, events, `error_json`. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  user_message: string;
  details: Record<string, unknown>;
  doc_url: string;
}

/** One defect of a validated input. `path` is a JSON path such as `nodes[3].output.table`. */
export interface Failure {
  code: ErrorCode;
  path: string;
  message: string;
  details?: Record<string, unknown>;
}

export interface PenstockErrorOptions {
  /** A sentence for the caller: what is wrong and how to fix it. Never a secret, a connection URL or a bound value. */
  message?: string;
  details?: Record<string, unknown>;
  /** Only for a code with an `alternateStatus`: which of its two statuses this is. Absent: the first. */
  status?: number;
  /** Kept for the log, never rendered. */
  cause?: unknown;
}

/** The one error class: a code of the catalogue decides status and default texts. */
export class PenstockError extends Error {
  override readonly name = 'PenstockError';
  readonly code: ErrorCode;
  readonly details: Record<string, unknown>;

  /** HTTP status of the code; codes that are recorded but never answered count as 500. */
  readonly status: number;

  constructor(code: ErrorCode, options: PenstockErrorOptions = {}) {
    const entry = catalogueEntry(code);
    super(options.message ?? entry.title, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
    if (options.status !== undefined && options.status !== entry.status && options.status !== entry.alternateStatus) {
      throw new TypeError(`${code} never has the status ${options.status}`);
    }
    this.status = options.status ?? entry.status ?? 500;
  }

  toBody(baseUrl = ''): ErrorBody {
    const entry = catalogueEntry(this.code);
    return {
      code: this.code,
      message: this.message,
      user_message: entry.fix,
      details: this.details,
      doc_url: `${baseUrl}/docs/errors#${this.code}`,
    };
  }
}

/** A member of a body that is wrong, without a code of its own (03 §1). */
export function fieldFailure(field: string, message: string, reason = 'field'): Failure {
  return { code: 'pipeline.execution.invalid_parameter_type', path: field, message, details: { field, reason } };
}

/** At most this many failures are listed; the rest is announced by `truncated: true` (03 §2). */
const MAX_FAILURES = 200;

/** One error for all defects of an input: its code is the first failure's. */
export function validationError(failures: readonly [Failure, ...Failure[]] | readonly Failure[]): PenstockError {
  const first = failures[0];
  if (!first) throw new TypeError('validationError needs at least one failure');
  return new PenstockError(first.code, {
    message: first.message,
    details: { ...first.details, ...listedFailures(failures) },
  });
}

/** The failures an answer lists, `details` always an object. */
export function listedFailures(failures: readonly Failure[]): { failures: Failure[]; truncated?: true } {
  return {
    failures: failures
      .slice(0, MAX_FAILURES)
      .map(({ code, path, message, details }) => ({ code, path, message, details: details ?? {} })),
    ...(failures.length > MAX_FAILURES ? { truncated: true } : {}),
  };
}

export function isPenstockError(error: unknown): error is PenstockError {
  return error instanceof PenstockError;
}
