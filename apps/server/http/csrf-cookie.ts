import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Authenticator, CsrfTokens } from '#libs/identity';
import { isPenstockError } from '#libs/kernel';
import { Cookies } from './cookies.js';
import { factsOf } from './request-context.js';

/**
 * The CSRF cookie on the public paths that hand it out. A browser that is signed in keeps its session's token there:
 * replacing it by an anonymous one would make every open page's next write a forgery.
 */
@Injectable()
export class CsrfCookie {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly tokens: CsrfTokens,
    private readonly cookies: Cookies,
  ) {}

  /** Sets a token when there is none, or one that was not made for this browser (04 §9.2). */
  async ensure(request: Request, response: Response): Promise<void> {
    const owner = await this.ownerOf(request);
    const held = this.cookies.csrf(request);
    if (this.tokens.verify(held, held, owner) !== 'ok') this.cookies.setCsrf(response, this.tokens.issue(owner));
  }

  /** The live session of the request's cookie, or `anon`. */
  async ownerOf(request: Request): Promise<string> {
    const session = this.cookies.session(request);
    if (session === undefined) return 'anon';
    try {
      const principal = await this.authenticator.authenticateSession(session, factsOf(request, 'session'));
      return principal.sessionId ?? 'anon';
    } catch (error) {
      if (isPenstockError(error) && error.status === 401) return 'anon';
      throw error;
    }
  }
}
