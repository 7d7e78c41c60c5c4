/** What kind of failure a driver met; the caller decides the catalogued code by the phase it was in (02 §5.5). */
export type DriverFailureKind = 'connection' | 'timeout' | 'cancelled' | 'permission' | 'missing_table' | 'other';

export interface DriverFailureOptions {
  /** SQLSTATE, errno word or engine error class, e.g. `28P01`, `ECONNREFUSED`. */
  driverCode?: string;
  /** A word for the caller's `details.reason`, e.g. `stream_cut`. */
  reason?: string;
  /** A COMMIT whose answer was lost: neither "written" nor "not written" may be claimed (02 §5.4). */
  commitUnknown?: boolean;
  cause?: unknown;
}

/** Longest driver text that is kept (02 §5.5). */
const MAX_DRIVER_TEXT = 2000;

/**
 * A database or its connection refused. Lease, Cursor and TableWriter reject with this, besides PenstockError. The
 * message is the engine's own text, at most 2,000 characters, with the datasource's secret already scrubbed.
 */
export class DriverFailure extends Error {
  override readonly name = 'DriverFailure';
  readonly kind: DriverFailureKind;
  readonly driverCode: string | undefined;
  readonly reason: string | undefined;
  readonly commitUnknown: boolean;

  constructor(kind: DriverFailureKind, message: string, options: DriverFailureOptions = {}) {
    super(message.slice(0, MAX_DRIVER_TEXT), options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.driverCode = options.driverCode;
    this.reason = options.reason;
    this.commitUnknown = options.commitUnknown ?? false;
  }
}

/** The failure a caller's own abort becomes; the abort reason stays reachable as `cause`. */
export function cancelled(signal: AbortSignal): DriverFailure {
  return new DriverFailure('cancelled', 'The statement was cancelled.', { cause: signal.reason });
}

/** Rejects as {@link cancelled} when the signal fires first. The work goes on; the caller must stop it. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    work.catch(() => undefined);
    throw cancelled(signal);
  }
  return await new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(cancelled(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Node's socket errors carry an errno word in `code`. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** The innermost message of a chain of causes and of an AggregateError (a refused name with several addresses). */
export function deepestMessage(error: unknown): string {
  let current: unknown = error;
  for (let level = 0; level < 16; level += 1) {
    if (current instanceof AggregateError && current.errors.length > 0) current = current.errors[0];
    else if (current instanceof Error && current.cause instanceof Error) current = current.cause;
    else break;
  }
  return current instanceof Error ? current.message : String(current);
}
