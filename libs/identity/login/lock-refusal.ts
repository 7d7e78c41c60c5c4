import { PenstockError, toWireStamp } from '#libs/kernel';

/** 403 with the end of the lock, so that a person knows how long to wait. */
export function lockRefusal(lockedUntil: string | null): PenstockError {
  return new PenstockError('auth.login.locked', {
    details: lockedUntil === null ? {} : { locked_until: toWireStamp(lockedUntil) },
  });
}
