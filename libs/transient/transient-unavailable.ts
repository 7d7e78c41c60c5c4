import { PenstockError, type ErrorCode } from '#libs/kernel';

/**
 * `down`: no answer in time, or a refusal that retrying may cure. `full`: no room for the write. `lost`: what the call
 * builds on (the chunks of a result) is not there any more.
 */
export type UnavailableReason = 'down' | 'full' | 'lost';

const SENTENCES: Readonly<Record<UnavailableReason, string>> = {
  down: 'The transient store does not answer.',
  full: 'The transient store has no room left.',
  lost: 'The transient store no longer holds what this builds on.',
};

/**
 * The one way in which a store fails. What it means differs from call to call (02 §8, last table): a request is refused,
 * a run fails, an event is read from the table instead. So the store does not choose a code; its caller does, with
 * `unavailableAs` or by its own handling.
 */
export class TransientUnavailable extends Error {
  override readonly name = 'TransientUnavailable';
  readonly reason: UnavailableReason;

  constructor(options: { reason?: UnavailableReason; cause?: unknown } = {}) {
    const reason = options.reason ?? 'down';
    super(SENTENCES[reason], options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
  }
}

/** Runs `work`; an unavailable store becomes the error that this call owes its client. */
export async function unavailableAs<T>(
  code: ErrorCode,
  work: () => Promise<T>,
  told: { message?: string; details?: Record<string, unknown> } = {},
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TransientUnavailable)) throw error;
    throw new PenstockError(code, { ...told, cause: error });
  }
}
