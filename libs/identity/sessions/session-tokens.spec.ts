import { describe, expect, it } from '@jest/globals';
import { SignJWT, UnsecuredJWT } from 'jose';
import { Clock, PenstockError } from '#libs/kernel';
import { identityOptions } from '../../../test/fixtures/identity.js';
import { IdentitySettings, type IdentityOptions } from '../identity-settings.js';
import { CsrfTokens } from './csrf-tokens.js';
import { newSessionId, SessionJwt, type SessionClaims } from './session-jwt.js';

const testSettings = (overrides: Partial<IdentityOptions>) => new IdentitySettings(identityOptions(overrides));

class FixedClock extends Clock {
  constructor(public time = new Date('2026-11-30T10:00:00Z')) {
    super();
  }
  now(): Date {
    return this.time;
  }
}

const userId = '00000000-0000-4000-8000-000000000001';
const secret = (fill: number) => new Uint8Array(32).fill(fill);

function claims(overrides: Partial<SessionClaims> = {}): SessionClaims {
  return {
    userId,
    email: 'ada@example.org',
    displayName: 'Ada',
    amr: 'pwd',
    sid: newSessionId().sid,
    expiresAt: new Date('2026-11-30T18:00:00Z'),
    ...overrides,
  };
}

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
    return 'accepted';
  } catch (error) {
    return error instanceof PenstockError ? error.code : String(error);
  }
}

describe('the session token', () => {
  const clock = new FixedClock();
  const tokens = new SessionJwt(testSettings({ jwtSecrets: [secret(1)] }), clock);

  it('brings its claims back, the chosen workspace among them', async () => {
    const given = claims({ activeWorkspaceId: 'defa0000-0000-0000-0000-000000000001' });
    expect(await tokens.verify(await tokens.sign(given))).toEqual(given);
  });

  it('ends with its time, and says so apart from every other defect', async () => {
    const later = new SessionJwt(
      testSettings({ jwtSecrets: [secret(1)] }),
      new FixedClock(new Date('2026-11-30T18:00:01Z')),
    );
    expect(await codeOf(later.verify(await tokens.sign(claims())))).toBe('auth.session.expired');
  });

  it('does not tell the holder of a forged token that it has expired', async () => {
    const forger = new SessionJwt(testSettings({ jwtSecrets: [secret(9)] }), clock);
    const stale = await forger.sign(claims({ expiresAt: new Date('2020-01-01T00:00:00Z') }));
    expect(await codeOf(tokens.verify(stale))).toBe('auth.session.invalid');
  });

  it('accepts tokens of a previous secret and signs with the current one', async () => {
    const rotated = new SessionJwt(testSettings({ jwtSecrets: [secret(2), secret(1)] }), clock);
    expect(await codeOf(rotated.verify(await tokens.sign(claims())))).toBe('accepted');
    expect(await codeOf(tokens.verify(await rotated.sign(claims())))).toBe('auth.session.invalid');
  });

  describe('refuses', () => {
    const body = () => {
      const { sid } = newSessionId();
      return { email: 'a@b', name: 'A', amr: 'pwd', sid };
    };
    const signed = (build: (jwt: SignJWT) => SignJWT, payload: Record<string, unknown> = body(), alg = 'HS256') =>
      build(
        new SignJWT(payload)
          .setProtectedHeader({ alg })
          .setIssuer('datapipelines')
          .setAudience('dp_session')
          .setSubject(userId)
          .setIssuedAt(clock.now())
          .setExpirationTime(new Date('2026-11-30T18:00:00Z')),
      ).sign(secret(1));

    it.each<[string, () => Promise<string> | string]>([
      [
        'alg none',
        () => new UnsecuredJWT(body()).setIssuer('datapipelines').setAudience('dp_session').setSubject(userId).encode(),
      ],
      ['another HMAC', () => signed((jwt) => jwt, body(), 'HS512')],
      ['a wrong audience', () => signed((jwt) => jwt.setAudience('dp_other'))],
      ['a wrong issuer', () => signed((jwt) => jwt.setIssuer('elsewhere'))],
      ['no session id', () => signed((jwt) => jwt, { amr: 'pwd' })],
      ['a session id of another shape', () => signed((jwt) => jwt, { ...body(), sid: "' OR 1=1 --" })],
      ['a subject that is no user', () => signed((jwt) => jwt.setSubject('root'))],
      ['an unknown method', () => signed((jwt) => jwt, { ...body(), amr: 'mfa' })],
      ['a cut token', async () => (await signed((jwt) => jwt)).slice(0, -2)],
      ['a text that is no token', () => '\u0000'],
      ['a huge text', () => 'x'.repeat(1_000_000)],
    ])('%s', async (_name, make) => {
      expect(await codeOf(tokens.verify(await make()))).toBe('auth.session.invalid');
    });
  });
});

describe('CSRF tokens', () => {
  const csrf = new CsrfTokens(testSettings({ jwtSecrets: [secret(1)] }));

  it('proves that cookie and header agree and were issued for this session', () => {
    const token = csrf.issue('s1');
    expect(csrf.verify(token, token, 's1')).toBe('ok');
    expect(csrf.issue('s1')).not.toBe(token);
  });

  it('does not accept the token of another session or of the time before login', () => {
    for (const other of [csrf.issue('s2'), csrf.issue('anon')])
      expect(csrf.verify(other, other, 's1')).toBe('mismatch');
  });

  it.each([
    [undefined, 'x', 'missing'],
    ['x', undefined, 'missing'],
    ['', '', 'missing'],
    ['x', 'x', 'mismatch'],
    ['a.b', 'a.b', 'mismatch'],
    ['é'.repeat(66), 'é'.repeat(66), 'mismatch'],
  ])('cookie %j with header %j is %s', (cookie, header, verdict) => {
    expect(csrf.verify(cookie, header, 's1')).toBe(verdict);
  });

  it('needs the header to be the cookie, so that a planted cookie alone is worthless', () => {
    expect(csrf.verify(csrf.issue('s1'), csrf.issue('s1'), 's1')).toBe('mismatch');
  });

  it('keeps verifying after the secret was rotated', () => {
    const rotated = new CsrfTokens(testSettings({ jwtSecrets: [secret(2), secret(1)] }));
    const token = csrf.issue('s1');
    expect(rotated.verify(token, token, 's1')).toBe('ok');
  });
});
