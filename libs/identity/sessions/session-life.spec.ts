import { describe, expect, it } from '@jest/globals';
import { identityInstance, requestFacts } from '../../../test/fixtures/identity.js';
import { codeOf, loginScene, PASSWORD } from '../../../test/fixtures/login-scene.js';
import { Authenticator } from '../access/authenticator.js';
import { UseStamps } from '../access/use-stamps.js';
import { LoginService } from '../login/login.service.js';
import { SessionPurge } from './session-purge.js';
import { SessionService } from './session.service.js';

const scene = loginScene();

describe('sessions', () => {
  it('ends the one that was presented with the login: a planted cookie gains nothing', async () => {
    await scene.person('ada@example.org');
    const first = await scene.login('ada@example.org', PASSWORD);
    await scene.login('ada@example.org', PASSWORD, { ...requestFacts(), presentedSession: first.token });
    expect(await codeOf(scene.instance.get(Authenticator).authenticateSession(first.token, requestFacts()))).toBe(
      'auth.session.invalid',
    );
  });

  it('keeps at most the configured number, ending the oldest, also when logins race', async () => {
    const pair = await identityInstance({
      database: scene.database,
      options: { sessionsPerUser: 3 },
      channel: scene.instance.channel,
    });
    await scene.person('ada@example.org');
    const outcomes = [];
    for (let n = 0; n < 3; n++)
      outcomes.push(await pair.get(LoginService).login('ada@example.org', PASSWORD, requestFacts()));
    await Promise.all([1, 2].map(() => pair.get(LoginService).login('ada@example.org', PASSWORD, requestFacts())));
    const [live] = await scene.database.query<{ live: number }>(
      'SELECT count(*)::int AS live FROM user_sessions WHERE revoked_at IS NULL',
    );
    expect(live?.live).toBe(3);
    const oldest = pair.get(Authenticator).authenticateSession(outcomes[0]?.token ?? '', requestFacts());
    expect(await codeOf(oldest)).toBe('auth.session.invalid');
    await pair.close();
  });

  it('expires by age and by idleness, and lives on while it is used', async () => {
    await scene.person('ada@example.org');
    const { token } = await scene.login('ada@example.org', PASSWORD);
    const authenticate = () => codeOf(scene.instance.get(Authenticator).authenticateSession(token, requestFacts()));
    for (let n = 0; n < 3; n++) {
      scene.instance.clock.advance(100);
      expect(await authenticate()).toBe('accepted');
      await scene.instance.get(UseStamps).settled();
    }
    scene.instance.clock.advance(121);
    expect(await authenticate()).toBe('auth.session.expired');
    scene.instance.clock.advance(8 * 60);
    expect(await authenticate()).toBe('auth.session.expired');
  });

  it('is ended by logout on every instance at once, and logging out twice is no error', async () => {
    await scene.person('ada@example.org');
    const other = await identityInstance({ database: scene.database, channel: scene.instance.channel });
    const { token } = await scene.login('ada@example.org', PASSWORD);
    const elsewhere = await other.get(Authenticator).authenticateSession(token, requestFacts());
    await scene.instance.get(LoginService).logout(elsewhere);
    await scene.instance.get(LoginService).logout(elsewhere);
    expect(await codeOf(other.get(Authenticator).authenticateSession(token, requestFacts()))).toBe(
      'auth.session.invalid',
    );
    expect(await scene.auditOf('auth.logout')).toHaveLength(1);
    await other.close();
  });

  it("lists and ends only one's own, and says nothing about those of others", async () => {
    await scene.person('ada@example.org');
    await scene.person('bob@example.org');
    const ada = (await scene.login('ada@example.org', PASSWORD)).principal;
    const bob = await scene.login('bob@example.org', PASSWORD);
    const sessions = scene.instance.get(SessionService);
    expect((await sessions.list(ada)).map(({ id, is_current }) => [id, is_current])).toEqual([[ada.sessionId, true]]);
    await sessions.revoke(ada, bob.principal.sessionId ?? '');
    await sessions.revoke(ada, 'not an id');
    expect(await codeOf(scene.instance.get(Authenticator).authenticateSession(bob.token, requestFacts()))).toBe(
      'accepted',
    );
  });

  it('is seen at most once a minute, so that a busy one costs one write, and ended ones leave the list', async () => {
    await scene.person('ada@example.org');
    const { token, principal } = await scene.login('ada@example.org', PASSWORD);
    const sessions = scene.instance.get(SessionService);
    const seen = async (afterMinutes: number) => {
      scene.instance.clock.advance(afterMinutes);
      await scene.instance.get(Authenticator).authenticateSession(token, requestFacts());
      await scene.instance.get(UseStamps).settled();
      return (await sessions.list(principal)).map(({ last_seen_at }) => last_seen_at);
    };
    const first = await seen(2);
    expect(first).toHaveLength(1);
    expect(await seen(0.5)).toEqual(first);
    expect(await seen(1)).not.toEqual(first);
    await scene.login('ada@example.org', PASSWORD);
    expect(await sessions.list(principal)).toMatchObject([
      { amr: 'pwd', provider: 'local', source_ip: '192.0.2.7', user_agent: 'test', is_current: false },
      { is_current: true },
    ]);
    await sessions.revokeOthers(principal);
    expect(await sessions.list(principal)).toMatchObject([{ id: principal.sessionId, is_current: true }]);
    scene.instance.clock.advance(121);
    expect(await sessions.list(principal)).toEqual([]);
  });

  it('is forgotten thirty days after its end, in batches, and not before', async () => {
    await scene.person('ada@example.org');
    await scene.login('ada@example.org', PASSWORD);
    const purge = scene.instance.get(SessionPurge);
    scene.instance.clock.advance(29 * 24 * 60);
    expect(await purge.run()).toBe(0);
    scene.instance.clock.advance(2 * 24 * 60);
    expect(await purge.run()).toBe(1);
    expect(await purge.run()).toBe(0);
  });
});
