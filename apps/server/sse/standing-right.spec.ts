import { describe, expect, it } from '@jest/globals';
import type { Request } from 'express';
import { Authenticator, UseStamps } from '#libs/identity';
import { newId } from '#libs/kernel';
import { loginScene, PASSWORD } from '../../../test/fixtures/login-scene.js';
import { Cookies } from '../http/cookies.js';
import { attachContext } from '../http/request-context.js';
import { StandingRight } from './standing-right.js';

const scene = loginScene();

/** A request that holds a stream open under a session's cookie. */
function streamOf(token: string): Request {
  const request = { get: (name: string) => (name === 'Cookie' ? `dp_session=${token}` : undefined) } as Request;
  attachContext(request, {
    correlationId: newId(),
    sourceIp: '192.0.2.7',
    userAgent: 'test',
    path: { class: 'rest', path: '/api/v1/executions/x/events', query: '' },
  });
  return request;
}

describe('a tab that is left open', () => {
  it('keeps no session alive: its stream ends when the session has idled out, and a request of the person puts that off', async () => {
    await scene.person('ada@example.org');
    const { token, principal } = await scene.login('ada@example.org', PASSWORD);
    const { clock } = scene.instance;
    const authenticator = scene.instance.get(Authenticator);
    const right = new StandingRight(authenticator, new Cookies(false, false));
    const request = streamOf(token);
    const lost = async () => (await right.lost(request, principal, 'session.own'))?.code;
    const minutes = async (count: number) => {
      for (let n = 0; n < count; n += 10) {
        clock.advance(10);
        expect(await lost()).toBeUndefined();
        await scene.instance.get(UseStamps).settled();
      }
    };
    await minutes(110);
    await authenticator.authenticateSession(token, { correlationId: newId(), surface: 'session' });
    await scene.instance.get(UseStamps).settled();
    await minutes(110);
    clock.advance(11);
    expect(await lost()).toBe('auth.session.expired');
  });
});
