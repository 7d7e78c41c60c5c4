import { join } from 'node:path';
import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Cookies } from '../http/cookies.js';
import { CsrfCookie } from '../http/csrf-cookie.js';
import { redirect } from '../http/navigation.js';
import { Operation } from '../http/operation.decorator.js';
import { Describe, nothing, raw, redirection } from '../http/describe.decorator.js';
import { sendPage } from './send-page.js';
import { readPage } from './static-files.js';

const HTML = 'text/html; charset=utf-8';
const STATIC = join(import.meta.dirname, 'static');
const page = (name: string): string => readPage(join(STATIC, `${name}.html`));

const UNCHANGED = nothing('Nothing changed since the `ETag` that was sent.');

/**
 * The pages a person needs before there is a console: sign in, change a password, see where things are. They carry
 * no user data, every read goes through the API with the session cookie.
 */
@Controller()
export class PagesController {
  readonly #home = page('home');
  readonly #login = page('login');
  readonly #password = page('password');
  readonly #reset = page('reset-password');

  constructor(
    private readonly csrf: CsrfCookie,
    private readonly cookies: Cookies,
  ) {}

  @Get('/')
  @Operation('public')
  @Describe('Show where things are.', {
    answers: { 200: raw('text/html', 'The page.'), 304: UNCHANGED, 302: redirection('To the sign-in page.') },
    errors: [],
  })
  home(@Req() request: Request, @Res() response: Response): void {
    if (this.cookies.session(request) === undefined) return redirect(response, '/login');
    sendPage(request, response, HTML, this.#home);
  }

  /** Hands out the token that the sign-in form sends back, unless the browser holds a valid one. */
  @Get('/login')
  @Operation('public')
  @Describe('Show the sign-in page.', { answers: { 200: raw('text/html', 'The page.'), 304: UNCHANGED }, errors: [] })
  async login(@Req() request: Request, @Res() response: Response): Promise<void> {
    await this.csrf.ensure(request, response);
    sendPage(request, response, HTML, this.#login);
  }

  /** For people who cannot sign in: asks for a link, or takes the one in the fragment, which no server ever sees. */
  @Get('/reset-password')
  @Operation('public')
  @Describe('Show the page that asks for a reset link, or takes one.', {
    answers: { 200: raw('text/html', 'The page.'), 304: UNCHANGED },
    errors: [],
  })
  resetPassword(@Req() request: Request, @Res() response: Response): void {
    sendPage(request, response, HTML, this.#reset);
  }

  /** For people who signed in; a browser that did not is sent to `/login` before it gets here. */
  @Get('/settings/password')
  @Operation('public')
  @Describe('Show the page that changes a password.', {
    answers: { 200: raw('text/html', 'The page.'), 304: UNCHANGED },
    errors: [],
  })
  password(@Req() request: Request, @Res() response: Response): void {
    sendPage(request, response, HTML, this.#password);
  }
}
