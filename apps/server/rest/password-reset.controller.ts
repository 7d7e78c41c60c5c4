import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { z } from 'zod';
import { PasswordReset } from '#libs/identity';
import { parseInput } from '../http/input.js';
import { Operation } from '../http/operation.decorator.js';
import { factsOf } from '../http/request-context.js';
import { Describe, nothing } from '../http/describe.decorator.js';
import { codesBelow } from '../openapi/error-groups.js';

const wish = z.strictObject({ email: z.string() });
const choice = z.strictObject({ token: z.string(), new_password: z.string() });

/** Choosing a new password by mail. It presents a secret, so it is REST only (03 §12). */
@Controller('/api/v1/auth/password-reset')
export class PasswordResetController {
  constructor(private readonly resets: PasswordReset) {}

  /** One answer for everybody: it tells nothing of the account (04 §4.5). */
  @Post('request')
  @HttpCode(202)
  @Operation('public')
  @Describe('Ask for a link that resets a password; one answer for everybody.', {
    body: wish,
    answers: { 202: z.object({ requested: z.literal(true) }) },
    errors: [],
  })
  request(@Req() request: Request): { requested: true } {
    this.resets.request(parseInput(wish, request.body).email, factsOf(request, 'session'));
    return { requested: true };
  }

  @Post('confirm')
  @Operation('public')
  @Describe('Choose a new password with the token of the link.', {
    body: choice,
    answers: { 204: nothing('Changed.') },
    errors: [...codesBelow('auth.password.')],
  })
  async confirm(@Req() request: Request): Promise<void> {
    const { token, new_password } = parseInput(choice, request.body);
    await this.resets.confirm(token, new_password, factsOf(request, 'session'));
  }
}
