import type { MailMessage } from './mail-message.js';

/** How an attempt ended. Reasons are for operators: they hold nothing of a body, and no password. */
export type Delivery =
  | { outcome: 'accepted' }
  /** Nobody answered, so nothing was handed over: trying again is safe. */
  | { outcome: 'unreachable'; reason: string }
  /** Refused, or cut off where it is not known what was taken: never tried again. */
  | { outcome: 'failed'; reason: string }
  /** Ended by the signal: whether the message was taken is not known, and nobody may say that it was refused. */
  | { outcome: 'interrupted' };

/** Where messages go. One attempt a call, ended by the signal; it never rejects. */
export abstract class MailTransport {
  abstract deliver(message: MailMessage, signal: AbortSignal): Promise<Delivery>;
}
