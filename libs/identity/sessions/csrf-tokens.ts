import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { IdentitySettings } from '../identity-settings.js';

const RANDOM_BYTES = 16;
const SHAPE = /^[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$/;

/**
 * Double-submit tokens bound to a session: `random.HMAC(random, session)`. A cookie planted from a sibling host cannot be
 * valid for the victim's session, because the writer lacks the key (contract 04 §9.2).
 */
@Injectable()
export class CsrfTokens {
  readonly #keys: readonly Buffer[];

  constructor(settings: IdentitySettings) {
    this.#keys = settings.jwtSecrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'penstock csrf', 32)));
  }

  /** @param sessionId row id of the session, or `anon` before there is one */
  issue(sessionId: string): string {
    const random = randomBytes(RANDOM_BYTES).toString('base64url');
    return `${random}.${mac(this.#keys[0] as Buffer, random, sessionId).toString('base64url')}`;
  }

  /** Compares the cookie with the header and proves that we issued it for this session. */
  verify(cookie: string | undefined, header: string | undefined, sessionId: string): 'ok' | 'missing' | 'mismatch' {
    if (!cookie || !header) return 'missing';
    if (!SHAPE.test(cookie) || !equal(cookie, header)) return 'mismatch';
    const [random = '', code = ''] = cookie.split('.');
    const presented = Buffer.from(code, 'base64url');
    const genuine = this.#keys.some((key) => timingSafeEqual(mac(key, random, sessionId), presented));
    return genuine ? 'ok' : 'mismatch';
  }
}

function mac(key: Buffer, random: string, sessionId: string): Buffer {
  return createHmac('sha256', key).update(`${random}.${sessionId}`).digest();
}

/** Digests, because the lengths of what was sent may differ. */
function equal(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
}
