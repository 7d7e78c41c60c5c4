import { describe, expect, it } from '@jest/globals';
import express, { type Request } from 'express';
import { callApp } from '../../../test/fixtures/serve-app.js';
import { Cookies } from './cookies.js';

const with_ = (header: string | undefined): Request => ({ get: () => header }) as unknown as Request;

async function set(cookies: Cookies): Promise<string[]> {
  const app = express();
  app.get('/', (_request, response) => {
    cookies.setSession(response, 'a.b.c', new Date('2030-01-01T00:00:00Z'));
    cookies.setCsrf(response, 'x=y');
    response.end();
  });
  app.get('/out', (_request, response) => {
    cookies.clear(response);
    response.end();
  });
  const [signedIn, signedOut] = [await callApp(app, 'GET', '/'), await callApp(app, 'GET', '/out')];
  return [...signedIn.headers.getSetCookie(), ...signedOut.headers.getSetCookie()];
}

describe('cookies', () => {
  it('are bound to the host where the connection is secure, and never readable where they need not be', async () => {
    expect(await set(new Cookies(true, true))).toEqual([
      '__Host-dp_session=a.b.c; Path=/; Expires=Tue, 01 Jan 2030 00:00:00 GMT; HttpOnly; Secure; SameSite=Lax',
      '__Host-dp_csrf=x%3Dy; Path=/; Secure; SameSite=Lax',
      '__Host-dp_session=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Secure; SameSite=Lax',
      '__Host-dp_csrf=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Secure; SameSite=Lax',
    ]);
    expect((await set(new Cookies(false, false)))[0]).toBe(
      'dp_session=a.b.c; Path=/; Expires=Tue, 01 Jan 2030 00:00:00 GMT; HttpOnly; SameSite=Lax',
    );
  });

  it('keeps a sign-in under way for its ten minutes, out of reach of scripts, and sends it with the way back', async () => {
    const app = express();
    app.get('/', (_request, response) => {
      new Cookies(true, true).setTransaction(response, 'sealed', 600);
      response.end();
    });
    const [cookie = ''] = (await callApp(app, 'GET', '/')).headers.getSetCookie();
    expect(cookie.replace(/Expires=[^;]+; /, '')).toBe(
      '__Host-dp_oauth2_authz=sealed; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=Lax',
    );
  });

  it.each([
    ['dp_session=a', 'a'],
    ['other=1; dp_session=a; x=2', 'a'],
    ['dp_session=a=b', 'a=b'],
    ['dp_session=%3D', '='],
    ['dp_session=%zz', '%zz'],
    ['dp_session=first; dp_session=second', 'first'],
    ['xdp_session=a', undefined],
    ['dp_session', undefined],
    ['__Host-dp_session=a', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%p holds the session %p', (header, expected) => {
    expect(new Cookies(false, false).session(with_(header))).toBe(expected);
  });

  it('takes no plain cookie for a host-bound one: a sibling domain could have set it', () => {
    expect(new Cookies(true, true).session(with_('dp_session=planted'))).toBeUndefined();
    expect(new Cookies(true, true).session(with_('__Host-dp_session=mine'))).toBe('mine');
  });
});
