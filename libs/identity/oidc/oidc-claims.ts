import { isPenstockError } from '#libs/kernel';
import { normalEmail } from '../users/email.js';
import { OidcRefusal } from './oidc-refusal.js';

const MAX_SUBJECT = 255;
const MAX_NAME = 200;
const MAX_PICTURE = 2048;

/** Who a provider says somebody is, checked and in our forms. */
export interface OidcIdentity {
  provider: string;
  /** Stable at the provider; shown nowhere. */
  subject: string;
  email: string;
  /** `assumed`: the provider does not say, and the operator trusts it. */
  emailVerified: 'literally' | 'assumed';
  displayName: string;
  pictureUrl: string | null;
}

export type Claims = Readonly<Record<string, unknown>>;

/**
 * The identity in verified claims (contract 04 §3, rows "Claims" and "Verified").
 *
 * @param claims of the ID token, or of the user info of the same subject where the token has no address
 * @throws OidcRefusal `token_invalid`, `email_missing`, `email_unverified`
 */
export function identityOf(
  provider: { name: string; trustEmailWithoutVerifiedClaim: boolean },
  subject: unknown,
  claims: Claims,
): OidcIdentity {
  if (typeof subject !== 'string' || subject === '' || subject.length > MAX_SUBJECT || /\p{Cc}/u.test(subject)) {
    throw new OidcRefusal('token_invalid');
  }
  const email = emailOf(claims);
  const verified = claims['email_verified'];
  const silent = verified === undefined || verified === null;
  // Anything but the literal true is a refusal: "true" as a text is what a provider sends that copies user input.
  if (verified !== true && !(silent && provider.trustEmailWithoutVerifiedClaim)) {
    throw new OidcRefusal('email_unverified');
  }
  return {
    provider: provider.name,
    subject,
    email,
    emailVerified: silent ? 'assumed' : 'literally',
    displayName: displayNameOf(claims, email),
    pictureUrl: pictureOf(claims['picture']),
  };
}

export function hasEmail(claims: Claims): boolean {
  return typeof claims['email'] === 'string' && claims['email'].trim() !== '';
}

function emailOf(claims: Claims): string {
  if (!hasEmail(claims)) throw new OidcRefusal('email_missing');
  try {
    return normalEmail(claims['email'] as string);
  } catch (error) {
    if (isPenstockError(error)) throw new OidcRefusal('email_missing', { cause: error });
    throw error;
  }
}

function displayNameOf(claims: Claims, email: string): string {
  const parts = [claims['given_name'], claims['family_name']].filter((part) => typeof part === 'string').join(' ');
  for (const candidate of [claims['name'], parts, claims['preferred_username']]) {
    const name = plain(candidate);
    if (name !== '') return name;
  }
  return email.slice(0, email.lastIndexOf('@'));
}

function plain(text: unknown): string {
  if (typeof text !== 'string') return '';
  const clean = text.normalize('NFC').replace(/\p{C}/gu, '').trim();
  return Array.from(clean).slice(0, MAX_NAME).join('');
}

/** Pages show it, so it is an https address or nothing. */
function pictureOf(picture: unknown): string | null {
  if (typeof picture !== 'string' || picture.length > MAX_PICTURE || !URL.canParse(picture)) return null;
  return new URL(picture).protocol === 'https:' ? picture : null;
}
