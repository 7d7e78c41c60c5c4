import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { errors, jwtVerify, SignJWT } from 'jose';
import { Clock, isUuid, PenstockError } from '#libs/kernel';
import { IdentitySettings } from '../identity-settings.js';

const ISSUER = 'datapipelines';
const AUDIENCE = 'dp_session';
const ALGORITHM = 'HS256';
const MAX_TOKEN = 4096;
const SID = /^[A-Za-z0-9_-]{43}$/;

export type AuthenticationMethod = 'pwd' | 'oidc';

/** What a session cookie says. Only `sid` is trusted further; the row decides everything else (contract 04 §4.4). */
export interface SessionClaims {
  userId: string;
  email: string;
  displayName: string;
  amr: AuthenticationMethod;
  /** 32 random bytes, base64url; the table keeps their SHA-256. */
  sid: string;
  /** Id of the workspace chosen last in this session. */
  activeWorkspaceId?: string;
  expiresAt: Date;
}

/** The session cookie's JWT: HS256 and nothing else, signed with the current secret, verified with older ones too. */
@Injectable()
export class SessionJwt {
  constructor(
    private readonly settings: IdentitySettings,
    private readonly clock: Clock,
  ) {}

  sign(claims: SessionClaims): Promise<string> {
    const { userId, email, displayName, amr, sid, activeWorkspaceId, expiresAt } = claims;
    return new SignJWT({
      email,
      name: displayName,
      amr,
      sid,
      ...(activeWorkspaceId === undefined ? {} : { active_workspace: activeWorkspaceId }),
    })
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setSubject(userId)
      .setIssuedAt(this.clock.now())
      .setExpirationTime(expiresAt)
      .sign(this.settings.jwtSecrets[0] as Uint8Array);
  }

  /** @throws `auth.session.expired` for a genuine token past its end, `auth.session.invalid` for every other defect */
  async verify(token: string): Promise<SessionClaims> {
    if (token.length > MAX_TOKEN) throw new PenstockError('auth.session.invalid');
    for (const secret of this.settings.jwtSecrets) {
      const payload = await this.#payload(token, secret);
      if (payload) return claimsOf(payload);
    }
    throw new PenstockError('auth.session.invalid');
  }

  /** Undefined when another secret may have signed it. */
  async #payload(token: string, secret: Uint8Array): Promise<Record<string, unknown> | undefined> {
    try {
      const { payload } = await jwtVerify(token, secret, {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        audience: AUDIENCE,
        currentDate: this.clock.now(),
        requiredClaims: ['sub', 'sid', 'amr', 'exp', 'iat'],
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JWSSignatureVerificationFailed) return undefined;
      if (error instanceof errors.JWTExpired) throw new PenstockError('auth.session.expired');
      throw new PenstockError('auth.session.invalid', { cause: error });
    }
  }
}

/** A new session identifier and what the table keeps of it. */
export function newSessionId(): { sid: string; hash: Buffer } {
  const sid = randomBytes(32).toString('base64url');
  return { sid, hash: sessionIdHash(sid) };
}

export function sessionIdHash(sid: string): Buffer {
  return createHash('sha256').update(sid).digest();
}

function claimsOf(payload: Record<string, unknown>): SessionClaims {
  const { sub, email, name, amr, sid, exp, active_workspace: activeWorkspaceId } = payload;
  if (typeof sub !== 'string' || !isUuid(sub) || typeof sid !== 'string' || !SID.test(sid)) {
    throw new PenstockError('auth.session.invalid');
  }
  if ((amr !== 'pwd' && amr !== 'oidc') || typeof exp !== 'number') throw new PenstockError('auth.session.invalid');
  return {
    userId: sub,
    email: typeof email === 'string' ? email : '',
    displayName: typeof name === 'string' ? name : '',
    amr,
    sid,
    activeWorkspaceId:
      typeof activeWorkspaceId === 'string' && isUuid(activeWorkspaceId) ? activeWorkspaceId : undefined,
    expiresAt: new Date(exp * 1000),
  };
}
