import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { OidcLoginService, type LoginFacts } from '#libs/identity';
import { isPenstockError, type ErrorCode } from '#libs/kernel';
import { Cookies } from '../http/cookies.js';
import { redirect } from '../http/navigation.js';
import { Operation } from '../http/operation.decorator.js';
import { contextOf, factsOf } from '../http/request-context.js';
import { z } from 'zod';
import { Describe, redirection } from '../http/describe.decorator.js';

/** How the sign-in page is told what was wrong; what the provider said is not repeated (04 §3). */
const PAGE_ERRORS: Partial<Record<ErrorCode, string>> = {
  'auth.login.oidc_error': 'oidc_error',
  'auth.login.domain_not_allowed': 'domain_not_allowed',
  'auth.login.user_inactive': 'inactive',
  'auth.login.identity_mismatch': 'identity_mismatch',
};

/** The way to an identity provider and back. */
@Controller()
export class OidcController {
  constructor(
    private readonly logins: OidcLoginService,
    private readonly cookies: Cookies,
  ) {}

  @Get('/oauth2/authorization/:provider')
  @Operation('public')
  @Describe('Go to an identity provider.', {
    query: { return_to: z.string().optional().describe('Where to go once signed in.') },
    answers: { 302: redirection('To the provider.') },
    errors: [
      'auth.login.oidc_error',
      'auth.login.domain_not_allowed',
      'auth.login.user_inactive',
      'auth.login.identity_mismatch',
      'request.not_found',
    ],
  })
  async begin(@Param('provider') provider: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    await this.#tellingThePage(request, response, async () => {
      const returnTo = new URLSearchParams(contextOf(request).path.query).get('return_to');
      const begun = await this.logins.begin(provider, returnTo, factsOf(request, 'session'));
      this.cookies.setTransaction(response, begun.transaction, begun.maxAgeSeconds);
      redirect(response, begun.location);
    });
  }

  @Get('/login/oauth2/code/:provider')
  @Operation('public')
  @Describe('Come back from an identity provider, signed in.', {
    answers: { 302: redirection('To where the person wanted to go.') },
    errors: [
      'auth.login.oidc_error',
      'auth.login.domain_not_allowed',
      'auth.login.user_inactive',
      'auth.login.identity_mismatch',
      'request.not_found',
    ],
  })
  async finish(@Param('provider') provider: string, @Req() request: Request, @Res() response: Response): Promise<void> {
    const sealed = this.cookies.transaction(request);
    // Used up whatever comes of it.
    this.cookies.clearTransaction(response);
    await this.#tellingThePage(request, response, async () => {
      const facts: LoginFacts = { ...factsOf(request, 'session'), presentedSession: this.cookies.session(request) };
      const outcome = await this.logins.finish(provider, contextOf(request).path.query, sealed, facts);
      const expires = new Date(outcome.expiresAt);
      this.cookies.setSession(response, outcome.token, expires);
      this.cookies.setCsrf(response, outcome.csrf, expires);
      redirect(response, outcome.returnTo);
    });
  }

  /** A browser goes back to the sign-in page with a word that the page knows; programs get the envelope. */
  async #tellingThePage(request: Request, response: Response, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      const word = isPenstockError(error) ? PAGE_ERRORS[error.code] : undefined;
      if (word === undefined || !/\btext\/html\b/i.test(request.get('Accept') ?? '')) throw error;
      redirect(response, `/login?error=${word}`);
    }
  }
}
