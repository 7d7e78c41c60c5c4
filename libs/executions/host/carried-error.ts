import { isPenstockError, PenstockError } from '#libs/kernel';
import type { CarriedError } from './thread-messages.js';

export function carried(error: unknown): CarriedError {
  const known = isPenstockError(error) ? error : new PenstockError('internal', { cause: error });
  return { code: known.code, message: known.message, details: known.details };
}

export function delivered({ code, message, details }: CarriedError): PenstockError {
  return new PenstockError(code, { message, details });
}
