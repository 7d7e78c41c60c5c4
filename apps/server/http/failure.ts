import { isPenstockError, PenstockError } from '#libs/kernel';
import { isConnectionFailure } from '#libs/persistence';

/** Seconds after which a client may try again while the metadata database is away. */
const RETRY_SECONDS = 2;

/**
 * Any failure as the one error class. A metadata database that is away is 503, so that clients and balancers retry; what
 * is not ours becomes `internal`, with nothing of it shown.
 */
export function toPenstockError(error: unknown): PenstockError {
  if (isPenstockError(error)) return error;
  if (isConnectionFailure(error)) {
    return new PenstockError('server.unavailable', { details: { retry_after_seconds: RETRY_SECONDS }, cause: error });
  }
  return new PenstockError('internal', { cause: error });
}
