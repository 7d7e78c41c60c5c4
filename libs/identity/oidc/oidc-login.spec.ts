import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/fixtures/eventually.js';
import { requestFacts } from '../../../test/fixtures/identity.js';
import { codeOf } from '../../../test/fixtures/login-scene.js';
import { MailServer } from '../../../test/fixtures/mail-server.js';
import { ADA, oidcScene } from '../../../test/fixtures/oidc-scene.js';

const scene = oidcScene();

describe('signing in through an honest provider', () => {
  it('makes an account at the first sign-in and finds it at the next', async () => {
    const first = await scene.signIn(ADA);
    expect(first.returnTo).toBe('/pipelines');
    expect(first.principal).toMatchObject({ email: 'ada@example.com', displayName: 'Ada Lovelace', amr: 'oidc' });
    expect(first.principal.superAdmin).toBe(false);
    const second = await scene.signIn({ ...ADA, name: 'Ada King' });
    expect(second.principal.userId).toBe(first.principal.userId);
    expect(await scene.users()).toEqual([
      { email: 'ada@example.com', name: 'Ada King', provider: 'acme', subject: 'ada-1', admin: false, active: true },
    ]);
    expect(await scene.auditOf('auth.user.created')).toHaveLength(1);
    expect(await scene.auditOf('auth.login.success')).toMatchObject([
      { email: 'ada@example.com', provider: 'acme', amr: 'oidc' },
      { amr: 'oidc' },
    ]);
  });

  it('is asked for a code with PKCE, state and nonce, and sends people back to the base URL only', async () => {
    scene.idp.behave(ADA);
    const { location } = await scene.begin();
    const params = Object.fromEntries(new URL(location).searchParams);
    expect(params).toMatchObject({
      client_id: 'penstock',
      response_type: 'code',
      scope: 'openid profile email',
      code_challenge_method: 'S256',
      redirect_uri: 'https://data.example.com/login/oauth2/code/acme',
    });
    expect(new Set([params['state'], params['nonce'], params['code_challenge']]).size).toBe(3);
  });

  it('may keep the address in the user info of the same subject', async () => {
    const { email, email_verified, ...bare } = ADA;
    const outcome = await scene.signIn(bare, { userInfo: { sub: 'ada-1', email, email_verified } });
    expect(outcome.principal.email).toBe('ada@example.com');
  });

  it('makes one account when two browsers arrive at once, and the operators hear of it once', async () => {
    const mail = await MailServer.start();
    const mailing = await scene.open({}, { mail: { port: mail.port, opsTo: 'ops@example.com' } });
    scene.idp.behave(ADA);
    const begun = await Promise.all(Array.from({ length: 6 }, () => scene.begin('acme', mailing)));
    const outcomes = await Promise.all(
      begun.map(({ location, transaction }) =>
        scene.service(mailing).finish('acme', scene.idp.signIn(location).query.toString(), transaction, requestFacts()),
      ),
    );
    expect(new Set(outcomes.map(({ principal }) => principal.userId)).size).toBe(1);
    expect(await scene.users()).toHaveLength(1);
    expect(await scene.auditOf('auth.user.created')).toHaveLength(1);
    await eventually('the notice', () => mail.received.length > 0);
    await mailing.close();
    expect(mail.received.map(({ text = '' }) => text.includes('ada@example.com'))).toEqual([true]);
    expect(
      await scene.database.query(
        'SELECT kind, sent_at IS NOT NULL AS sent, act_id = (SELECT id FROM users) AS own FROM mail_sends',
      ),
    ).toEqual([{ kind: 'new_user', sent: true, own: true }]);
    await mail.close();
  });

  it('may rotate its keys: the next sign-in reads the new ones', async () => {
    await scene.signIn(ADA);
    await scene.idp.rotate();
    // The library waits a moment between two reads of the keys, so that unknown key ids are no flood.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await expect(scene.signIn(ADA)).resolves.toMatchObject({ principal: { email: 'ada@example.com' } });
  }, 15_000);

  it.each([
    ['//evil.example.com', '/'],
    ['/\\evil.example.com', '/'],
    ['/\t/evil.example.com', '/'],
    ['https://evil.example.com', '/'],
    ['/a?b=c#d', '/a?b=c#d'],
  ])('sends nobody to another host afterwards: %j', async (wanted, goes) => {
    scene.idp.behave(ADA);
    const { location, transaction } = await scene.begin('acme', scene.instance, wanted);
    const { query } = scene.idp.signIn(location);
    expect((await scene.service().finish('acme', query.toString(), transaction, requestFacts())).returnTo).toBe(goes);
  });
});

it('admits the listed domains exactly: no subdomain, no suffix', async () => {
  const listed = await scene.open({ allowedDomains: ['example.com'] });
  const at = (email: string) => codeOf(scene.signIn({ ...ADA, sub: email, email }, {}, { at: listed }));
  expect(await at('ada@EXAMPLE.com')).toBe('accepted');
  for (const email of ['a@sub.example.com', 'a@notexample.com', 'a@example.com.evil.org']) {
    expect(await at(email)).toBe('auth.login.domain_not_allowed');
  }
  expect(await scene.users()).toHaveLength(1);
  await listed.close();
});

it('turns a pending invitation into a membership at the first sign-in', async () => {
  await scene.insert('host@example.com', { provider: 'local', provider_subject: 'host@example.com' });
  await scene.database.query(
    `INSERT INTO workspace_invitations (workspace_id, email, author, invited_by)
     SELECT 'defa0000-0000-0000-0000-000000000001', 'ada@example.com', TRUE, id FROM users`,
  );
  const outcome = await scene.signIn(ADA);
  expect(outcome.principal.workspace).toMatchObject({ name: 'default', flags: { author: true } });
  expect(await scene.auditOf('workspace.invitation_materialised')).toHaveLength(1);
});

it('answers an unknown provider like any unknown path', async () => {
  expect(await codeOf(scene.begin('nobody'))).toBe('request.not_found');
});
