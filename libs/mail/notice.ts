export type MailKind = 'welcome' | 'password_reset' | 'new_user';

/** Whom a notice is about; all but `new_user` go to this person. */
export interface Person {
  id: string;
  email: string;
  displayName: string;
}

/** What is worth a message (contract 04 §11). */
export type Notice =
  /** A local account was made. */
  | { kind: 'welcome'; person: Person; oneTimePassword: string }
  /** An administrator reset the password: `actId` is fresh with each reset. */
  | { kind: 'password_reset'; person: Person; actId: string; oneTimePassword: string }
  /** Somebody asked for a link: `actId` is the id of the token, which itself stands in the link only. */
  | { kind: 'password_reset'; person: Person; actId: string; resetToken: string }
  /** Any account was made; for the operators. `origin` says how, in words. */
  | { kind: 'new_user'; person: Person; origin: string };

/** The act that a message belongs to; with person and kind it is the message's identity (seed §4.19). */
export function actOf(notice: Notice): string {
  return 'actId' in notice ? notice.actId : notice.person.id;
}

/** The part of an address that may be logged. */
export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}
