import { PenstockError } from '#libs/kernel';

const MAX_LENGTH = 254;
const SHAPE = /^[^@\s]+@[^@\s]+$/u;
const CONTROL = /\p{C}/u;

/**
 * The one form in which an address is compared and stored: trimmed, NFC, lower case (contract 04 §3).
 *
 * @throws `auth.user.email_invalid` for anything that is not one address of at most 254 characters
 */
export function normalEmail(text: string): string {
  const email = text.trim().normalize('NFC').toLowerCase();
  if (email.length > MAX_LENGTH || CONTROL.test(email) || !SHAPE.test(email)) {
    throw new PenstockError('auth.user.email_invalid', { details: { field: 'email' } });
  }
  return email;
}
