import type { Request } from 'express';
import { PenstockError } from '#libs/kernel';
import { contextOf } from './request-context.js';

const BEARER_KEY = /^bearer +(dpk_\S+) *$/i;

/**
 * The API key a request presents: `DP-API-Key`, and on `/mcp` also `Authorization: Bearer dpk_…`, which is all that many
 * of its clients can send (04 §2). A bearer that is no key of ours counts as none: proxies add theirs.
 *
 * @throws `auth.api_key.invalid` for two keys that differ
 */
export function presentedKey(request: Request): string | undefined {
  const key = request.get('DP-API-Key');
  if (contextOf(request).path.class !== 'mcp') return key;
  const bearer = BEARER_KEY.exec(request.get('Authorization') ?? '')?.[1];
  if (key === undefined || bearer === undefined) return key ?? bearer;
  if (key === bearer) return key;
  throw new PenstockError('auth.api_key.invalid', {
    message: 'Two different keys were sent, in “DP-API-Key” and in “Authorization”. Send one.',
  });
}
