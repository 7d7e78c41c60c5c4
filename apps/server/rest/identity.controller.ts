import { Controller, Delete, Get, HttpCode, Param, Patch, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { z } from 'zod';
import {
  ApiKeyService,
  LoginService,
  OidcLoginService,
  PasswordReset,
  SessionService,
  UserService,
  type MeView,
} from '#libs/identity';
import { Configuration, isPenstockError, type ErrorCode, type Principal } from '#libs/kernel';
import { FORM, mediaType } from '../http/body.js';
import { Caller } from '../http/caller.decorator.js';
import { Cookies } from '../http/cookies.js';
import { CsrfCookie } from '../http/csrf-cookie.js';
import { anyJson, bodyObject, parseInput, queryFlag } from '../http/input.js';
import { pointTo } from '../http/navigation.js';
import { Operation } from '../http/operation.decorator.js';
import { factsOf } from '../http/request-context.js';
import { Paging, shownAs } from './paging.js';
import { Describe, nothing, redirection } from '../http/describe.decorator.js';
import { codesBelow } from '../openapi/error-groups.js';
import { listOf, paging } from '../openapi/shapes/envelope.js';
import { apiKey, meView, mintedKey, sessionView, signInWays } from '../openapi/shapes/identity.js';

const credentials = z.strictObject({ email: z.string(), password: z.string() });
const passwords = z.strictObject({ current_password: z.string(), new_password: z.string() });
const preference = z.strictObject({ theme_preference: anyJson });
const keyRequest = z.strictObject({
  name: z.string(),
  kind: z.string().optional(),
  scopes: z.array(z.string()).optional(),
  bindings: z.array(z.string()).optional(),
  expires_at: z.string().nullable().optional(),
});

/** How a form's sign-in page is told what was wrong (04 §3); anything else is an envelope. */
const FORM_ERRORS: Partial<Record<ErrorCode, string>> = {
  'auth.login.bad_credentials': 'credentials',
  'auth.login.locked': 'locked',
  'auth.login.user_inactive': 'inactive',
};

/** Sign-in, oneself, one's sessions and API keys. */
@Controller()
export class IdentityController {
  constructor(
    private readonly logins: LoginService,
    private readonly oidc: OidcLoginService,
    private readonly sessions: SessionService,
    private readonly users: UserService,
    private readonly keys: ApiKeyService,
    private readonly csrf: CsrfCookie,
    private readonly cookies: Cookies,
    private readonly paging: Paging,
    private readonly resets: PasswordReset,
    private readonly configuration: Configuration,
  ) {}

  /** What a sign-in page needs before anybody is known; also hands out the CSRF token. */
  @Get('/api/v1/auth/providers')
  @Operation('public')
  @Describe('Tell how one may sign in, and hand out the CSRF token.', { answers: { 200: signInWays }, errors: [] })
  async providers(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<unknown> {
    await this.csrf.ensure(request, response);
    return {
      local: this.configuration.get('datapipelines.auth.local.enabled'),
      password_reset: this.resets.enabled,
      providers: this.oidc.providers(),
    };
  }

  @Post('/login')
  @HttpCode(200)
  @Operation('public')
  @Describe('Sign in with e-mail and password; as JSON, or as the form of the sign-in page.', {
    body: credentials,
    answers: {
      200: meView,
      302: redirection(
        'Of the form: where the person wanted to go, or back to the page with a word on what was wrong.',
      ),
    },
    errors: ['auth.login.bad_credentials', 'auth.login.locked', 'auth.login.user_inactive', 'auth.csrf.invalid'],
  })
  async login(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<MeView | undefined> {
    if (mediaType(request) !== FORM) return this.#signIn(request, response);
    try {
      await this.#signIn(request, response);
      pointTo(response, '/');
    } catch (error) {
      const word = isPenstockError(error) ? FORM_ERRORS[error.code] : undefined;
      if (word === undefined) throw error;
      pointTo(response, `/login?error=${word}`);
    }
    return undefined;
  }

  async #signIn(request: Request, response: Response): Promise<MeView> {
    const { email, password } = parseInput(credentials, request.body);
    const outcome = await this.logins.login(email, password, {
      ...factsOf(request, 'session'),
      presentedSession: this.cookies.session(request),
    });
    const expires = new Date(outcome.expiresAt);
    this.cookies.setSession(response, outcome.token, expires);
    this.cookies.setCsrf(response, outcome.csrf, expires);
    return this.users.me(outcome.principal);
  }

  @Post('/logout')
  @Operation('session.own')
  @Describe('Sign out: the session ends and its cookies go.', { answers: { 204: nothing('Signed out.') }, errors: [] })
  async logout(@Caller() caller: Principal, @Res({ passthrough: true }) response: Response): Promise<void> {
    await this.logins.logout(caller);
    this.cookies.clear(response);
    response.setHeader('Clear-Site-Data', '"cache", "cookies", "storage"');
  }

  @Get('/api/v1/auth/me')
  @Operation('profile.read')
  @Describe('Tell who is asking, and as what.', { answers: { 200: meView }, errors: [] })
  me(@Caller() caller: Principal): Promise<MeView> {
    return this.users.me(caller);
  }

  @Patch('/api/v1/auth/me')
  @Operation('profile.preference')
  @Describe('Choose a theme.', { body: preference, answers: { 200: meView }, errors: [] })
  prefer(@Caller() caller: Principal, @Req() request: Request): Promise<MeView> {
    return this.users.setTheme(caller, parseInput(preference, request.body).theme_preference);
  }

  @Post('/api/v1/auth/password')
  @Operation('profile.password')
  @Describe('Change one’s own password; the other sessions end.', {
    body: passwords,
    answers: { 204: nothing('Changed.') },
    errors: [...codesBelow('auth.password.')],
  })
  async changePassword(@Caller() caller: Principal, @Req() request: Request): Promise<void> {
    const { current_password, new_password } = parseInput(passwords, request.body);
    await this.logins.changePassword(caller, current_password, new_password);
  }

  @Get('/api/v1/auth/sessions')
  @Operation('session.own')
  @Describe('List one’s own sessions.', { answers: { 200: z.object({ sessions: z.array(sessionView) }) }, errors: [] })
  async listSessions(@Caller() caller: Principal): Promise<unknown> {
    return { sessions: await this.sessions.list(caller) };
  }

  @Delete('/api/v1/auth/sessions')
  @Operation('session.own')
  @Describe('End every session but this one.', { answers: { 204: nothing('Ended.') }, errors: [] })
  async revokeOtherSessions(@Caller() caller: Principal): Promise<void> {
    await this.sessions.revokeOthers(caller);
  }

  @Delete('/api/v1/auth/sessions/:id')
  @Operation('session.own')
  @Describe('End one of one’s own sessions.', {
    answers: { 204: nothing('Ended, or there was nothing to end: an unknown, a foreign and an ended one are alike.') },
    errors: [],
    absentIsDone: true,
  })
  async revokeSession(@Caller() caller: Principal, @Param('id') id: string): Promise<void> {
    await this.sessions.revoke(caller, id);
  }

  @Get('/api/v1/auth/api-keys')
  @Operation('api_key.own')
  @Describe('List one’s own API keys.', {
    query: { ...paging, all: z.boolean().optional().describe('Every key of the workspace; for its administrators.') },
    answers: { 200: listOf(apiKey) },
    errors: ['graphql.cursor_invalid', 'auth.session.required', 'auth.role_required'],
  })
  async listKeys(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const filter = { all: queryFlag(request, 'all') };
    const body = await this.paging.list(request, {
      list: 'apiKeys',
      filter,
      page: (page) => this.keys.list(caller, filter, page),
      count: () => this.keys.count(caller, filter),
      placeOf: ({ cursor }) => cursor,
    });
    return shownAs(body, ({ apiKey }) => apiKey);
  }

  /** The secret is in this answer and nowhere else, ever. */
  @Post('/api/v1/auth/api-keys')
  @Operation('api_key.create')
  @Describe('Make an API key; its secret is in this answer only.', {
    body: keyRequest,
    answers: { 201: mintedKey },
    errors: [
      'auth.api_key.expiry_invalid',
      'auth.key_scope_unavailable',
      'auth.scope.unknown',
      'endpoint.path_invalid',
    ],
  })
  async createKey(@Caller() caller: Principal, @Req() request: Request): Promise<unknown> {
    const { apiKey, key } = await this.keys.create(caller, parseInput(keyRequest, bodyObject(request)));
    return { ...apiKey, key };
  }

  @Delete('/api/v1/auth/api-keys/:id')
  @Operation('api_key.own')
  @Describe('Revoke an API key at once.', {
    answers: { 204: nothing('Revoked.') },
    errors: ['auth.api_key.not_found', 'auth.role_required'],
  })
  async revokeKey(@Caller() caller: Principal, @Param('id') id: string): Promise<void> {
    await this.keys.revoke(caller, id);
  }
}
