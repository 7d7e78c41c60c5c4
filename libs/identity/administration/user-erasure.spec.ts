import { describe, expect, it } from '@jest/globals';
import { MailDispatcher } from '#libs/mail';
import { WorkspacesModule } from '#libs/workspaces';
import { PasswordReset } from '../reset/password-reset.js';
import { administrationScene } from '../../../test/fixtures/administration-scene.js';
import { identityInstance, requestFacts } from '../../../test/fixtures/identity.js';
import { codeOf, PASSWORD, refusal } from '../../../test/fixtures/login-scene.js';
import { MailServer, PLAIN, reply } from '../../../test/fixtures/mail-server.js';

const { accounts, erasure, root, rootId, scene, signIn, snapshot, standing, workspace } = administrationScene();

/** All that is stored of a person outside the trail, by what the rows are. */
async function rowsOf(id: string): Promise<Record<string, string>> {
  const [rows] = await scene.database.query<{ rows: string }>(
    `SELECT json_build_object(
       'user', (SELECT string_agg(u::text, '|') FROM users u WHERE id = $1),
       'mail', (SELECT string_agg(m::text, '|') FROM mail_sends m WHERE user_id = $1),
       'key', (SELECT string_agg(k::text, '|') FROM api_keys k WHERE user_id = $1),
       'session', (SELECT string_agg(s::text, '|') FROM user_sessions s WHERE user_id = $1),
       'link', (SELECT string_agg(t::text, '|') FROM password_reset_tokens t WHERE user_id = $1)) AS rows`,
    [id],
  );
  return JSON.parse(rows?.rows ?? '{}') as Record<string, string>;
}

describe('who goes', () => {
  it('leaves word in the trail of content that nobody administers any more', async () => {
    const id = await scene.person('ada@example.org');
    const [alone] = [
      await workspace('alone', { [id]: 'admin' }),
      await workspace('shared', { [id]: 'admin', [rootId()]: 'admin' }),
    ];
    await workspace('empty', { [id]: 'admin' });
    for (const name of ['alone', 'shared']) {
      await scene.database.execute(
        `INSERT INTO templates (workspace_id, name, display_name, description, created_by)
         SELECT id, 't.sql', 't', '', $2 FROM workspaces WHERE name = $1`,
        [name, id],
      );
    }
    await standing().deactivate(root(), id);
    expect(await scene.auditOf('auth.workspace.stranded_content')).toMatchObject([
      { workspace_id: alone, counts: { templates: 1 } },
    ]);
    const members = await scene.database.query('SELECT 1 FROM workspace_members WHERE user_id = $1', [id]);
    expect(members).toHaveLength(3);
  });

  it('is erased by closing the account, where that is the rule', async () => {
    const id = await scene.person('ada@example.org');
    const erased = await erasure().erase(root(), id);
    expect(erased).toMatchObject({ is_active: false, email: 'ada@example.org' });
    expect(await scene.auditOf('auth.user.erased')).toMatchObject([{ mode: 'deactivate' }]);
  });

  it('is anonymised: nothing of the person stays in any row but the trail, history keeps its id, the address is free', async () => {
    const server = await MailServer.start();
    const anonymising = await identityInstance({
      database: scene.database,
      options: { userErasure: 'anonymise' },
      modules: [WorkspacesModule],
      mail: { port: server.port, opsTo: 'ops@example.com' },
    });
    const { user } = await accounts(anonymising).create(root(), {
      email: 'ada@example.org',
      display_name: 'Ada Lovelace',
    });
    await anonymising.get(MailDispatcher).settled();
    const { id } = user;
    await workspace('team', { [id]: 'viewer' });
    await scene.database.execute(
      `INSERT INTO api_keys (id, user_id, workspace_id, name, key_hash, scopes, kind, last_used_ip, last_used_user_agent)
       SELECT 'dpk_AAAAAAAAAAAA', $1, id, 'k', 'h', '{read}', 'user', '192.0.2.9', 'test' FROM workspaces WHERE name = 'team'`,
      [id],
    );
    await scene.database.execute('UPDATE users SET password_hash = $2 WHERE id = $1', [id, scene.hash]);
    await signIn('ada@example.org', PASSWORD, anonymising);
    const links = anonymising.get(PasswordReset);
    links.request('ada@example.org', requestFacts());
    await links.settled();
    await anonymising.get(MailDispatcher).settled();
    // From before the person's address changed, and refused with the address written otherwise.
    await scene.database.execute(
      `INSERT INTO mail_sends (id, user_id, kind, act_id, recipient, error)
       VALUES (gen_random_uuid(), $1, 'password_reset', gen_random_uuid(), 'ada.b+x@old.example',
               '550 <ADA.B+X@OLD.EXAMPLE> is gone, ask ada@example.org (not ada-b+x@old.example), cc friend@old.example'),
              (gen_random_uuid(), $2, 'welcome', gen_random_uuid(), 'friend@old.example', NULL)`,
      [id, rootId()],
    );
    const held = await rowsOf(id);
    for (const table of ['session', 'link', 'key']) expect(held[table]).toMatch(/192\.0\.2/);
    for (const table of ['session', 'key']) expect(held[table]).toMatch(/\btest\b/);
    expect(held['mail']).toMatch(/ada\.b\+x@old\.example/);
    const erased = await erasure(anonymising).erase(root(), id);
    expect(erased).toMatchObject({
      id,
      email: `erased-${id}@erased.invalid`,
      display_name: 'Erased user',
      provider: 'erased',
      is_active: false,
      has_password: false,
    });
    const left = await rowsOf(id);
    expect(Object.keys(left)).toEqual(['user', 'mail', 'key', 'session', 'link']);
    for (const rows of Object.values(left)) {
      expect(rows).not.toMatch(/ada@example\.org|ada\.b\+x@old\.example|Ada Lovelace|192\.0\.2|\btest\b/i);
    }
    expect(left['mail']).toContain('550 <***> is gone, ask *** (not ada-b+x@old.example), cc friend@old.example');
    expect(
      await scene.database.query('SELECT 1 FROM mail_sends WHERE recipient = $1', ['ops@example.com']),
    ).toHaveLength(1);
    expect(await scene.database.query('SELECT 1 FROM api_keys WHERE NOT is_revoked')).toEqual([]);
    expect(await scene.auditOf('workspace.member_removed')).toMatchObject([
      { target_user_id: id, reason: 'erased', workspace: 'team' },
    ]);
    expect(await scene.auditOf('auth.api_key.revoked')).toMatchObject([{ owner_id: id, reason: 'owner_erased' }]);
    expect(await scene.auditOf('auth.user.erased')).toMatchObject([{ mode: 'anonymise' }]);
    expect(await codeOf(standing(anonymising).activate(root(), id))).toBe('auth.user.not_found');
    expect(await codeOf(accounts(anonymising).create(root(), { email: 'ada@example.org' }))).toBe('accepted');
    await anonymising.close();
    await server.close();
  });

  it.each([
    ['refused', 'mail.failed', 'EENVELOPE at RCPT TO: 550 no <***> here'],
    ['taken', 'mail.sent', null],
  ])('leaves no address behind by a message that was on its way, and is %s afterwards', async (what, event, error) => {
    const [asked, erased] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const server = await MailServer.start({
      ...PLAIN,
      onRcptTo: ({ address }, _session, next) => {
        asked.resolve();
        void erased.promise.then(() =>
          next(what === 'refused' ? reply(550, `no <${address.toUpperCase()}> here`) : undefined),
        );
      },
    });
    const anonymising = await identityInstance({
      database: scene.database,
      options: { userErasure: 'anonymise' },
      modules: [WorkspacesModule],
      mail: { port: server.port },
    });
    const { user } = await accounts(anonymising).create(root(), { email: 'ada@example.org' });
    await asked.promise;
    await erasure(anonymising).erase(root(), user.id);
    erased.resolve();
    await anonymising.get(MailDispatcher).settled();
    const gone = `erased-${user.id}@erased.invalid`;
    expect(await scene.database.query('SELECT recipient, error FROM mail_sends')).toEqual([{ recipient: gone, error }]);
    expect(await scene.auditOf(event)).toMatchObject([{ kind: 'welcome', to: gone, ...(error && { error }) }]);
    await anonymising.close();
    await server.close();
  });

  it('is not erased as the last administrator of a workspace or of the instance, nor by himself, and nothing changes', async () => {
    const anonymising = await identityInstance({
      database: scene.database,
      options: { userErasure: 'anonymise' },
      modules: [WorkspacesModule],
    });
    const erase = (id: string) => refusal(erasure(anonymising).erase(root(), id));
    const id = await scene.person('ada@example.org', { is_admin: true });
    await workspace('first', { [id]: 'viewer' });
    await workspace('alone', { [id]: 'admin' });
    const before = await snapshot();
    expect(await erase(id)).toMatchObject({ code: 'workspace.last_admin', body: { details: { workspace: 'alone' } } });
    expect(await erase(rootId())).toMatchObject({
      code: 'pipeline.execution.invalid_parameter_type',
      body: { details: { reason: 'self' } },
    });
    expect(await snapshot()).toBe(before);
    await anonymising.close();
  });
});
