import { describe, expect, it } from '@jest/globals';
import { newId } from '#libs/kernel';
import { administrationScene } from '../../../test/fixtures/administration-scene.js';
import { codeOf, PASSWORD } from '../../../test/fixtures/login-scene.js';

const { accounts, authenticate, erasure, root, rootId, scene, signIn, snapshot, standing } = administrationScene();

describe('standing', () => {
  it('closes an account at once on every instance, and opens it again', async () => {
    const id = await scene.person('ada@example.org');
    const { token } = await signIn('ada@example.org', PASSWORD);
    expect(await standing().deactivate(root(), id)).toMatchObject({ is_active: false });
    await standing().deactivate(root(), id);
    expect(await codeOf(authenticate(token))).toBe('auth.session.invalid');
    expect(await codeOf(signIn('ada@example.org', PASSWORD))).toBe('auth.login.user_inactive');
    expect(await standing().activate(root(), id)).toMatchObject({ is_active: true });
    expect(await codeOf(authenticate(token))).toBe('auth.session.invalid');
    expect(await codeOf(signIn('ada@example.org', PASSWORD))).toBe('accepted');
    expect(await scene.auditOf('auth.user.deactivated')).toMatchObject([{ actor: rootId(), target_user_id: id }]);
    expect(await scene.auditOf('auth.user.activated')).toHaveLength(1);
  });

  it('closes an account at once however its id is written: in capitals it is the same person', async () => {
    const id = await scene.person('ada@example.org');
    const { token } = await signIn('ada@example.org', PASSWORD);
    expect(await codeOf(authenticate(token))).toBe('accepted');
    expect(await standing().deactivate(root(), id.toUpperCase())).toMatchObject({ id, is_active: false });
    expect(await codeOf(authenticate(token))).toBe('auth.session.invalid');
    expect(await codeOf(standing().deactivate(root(), rootId().toUpperCase()))).toBe('auth.user.last_super_admin');
    expect(await scene.auditOf('auth.user.deactivated')).toMatchObject([{ target_user_id: id }]);
  });

  it('gives and takes administration, but never from the last active super administrator', async () => {
    const id = await scene.person('ada@example.org');
    expect(await standing().grantAdmin(root(), id)).toMatchObject({ is_admin: true });
    expect(await standing().revokeAdmin(root(), id)).toMatchObject({ is_admin: false });
    await standing().grantAdmin(root(), id);
    await scene.database.execute('UPDATE users SET is_active = FALSE WHERE id = $1', [id]);
    const before = await snapshot();
    expect(await codeOf(standing().revokeAdmin(root(), rootId()))).toBe('auth.user.last_super_admin');
    expect(await codeOf(standing().deactivate(root(), rootId()))).toBe('auth.user.last_super_admin');
    expect(await snapshot()).toBe(before);
  });

  it('leaves one of two super administrators who demote each other at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const otherId = await scene.person(`other${round}@example.org`, { is_admin: true });
      const other = (await signIn(`other${round}@example.org`, PASSWORD)).principal;
      const outcomes = await Promise.all([
        codeOf(standing().revokeAdmin(root(), otherId)),
        codeOf(round % 2 ? standing().deactivate(other, rootId()) : standing().revokeAdmin(other, rootId())),
      ]);
      expect(outcomes.filter((code) => code === 'accepted')).toHaveLength(1);
      const [left] = await scene.database.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM users WHERE is_admin AND is_active',
      );
      expect(left?.count).toBe(1);
      await scene.database.execute(`UPDATE users SET is_admin = (id = $1), is_active = TRUE`, [rootId()]);
    }
  });

  it('takes nothing from somebody whose own rights went a moment ago', async () => {
    const id = await scene.person('ada@example.org');
    await scene.person('third@example.org', { is_admin: true });
    await scene.database.execute('UPDATE users SET is_admin = FALSE WHERE id = $1', [rootId()]);
    const before = await snapshot();
    expect(await codeOf(standing().deactivate(root(), id))).toBe('auth.role_required');
    expect(await codeOf(accounts().create(root(), { email: 'x@example.org' }))).toBe('auth.role_required');
    expect(await codeOf(erasure().erase(root(), id))).toBe('auth.role_required');
    expect(await snapshot()).toBe(before);
  });

  it('cuts a row loose from its provider, so that a recycled address can be linked again', async () => {
    const id = await scene.person('ada@example.org', { provider: 'okta', provider_subject: 'old-subject' });
    expect(await standing().resetIdentity(root(), id)).toMatchObject({ provider: 'bootstrap' });
    expect(await scene.database.query('SELECT provider_subject AS subject FROM users WHERE id = $1', [id])).toEqual([
      { subject: 'ada@example.org' },
    ]);
    const [row] = await scene.auditOf('auth.user.identity_reset');
    expect(row).toMatchObject({
      userId: rootId(),
      from: { provider: 'okta', target_user_id: id },
      to: { provider: 'bootstrap' },
    });
    expect(JSON.stringify(row)).not.toContain('old-subject');
    await standing().resetIdentity(root(), id);
    expect(await scene.auditOf('auth.user.identity_reset')).toHaveLength(1);
  });

  it('signs somebody out everywhere', async () => {
    const id = await scene.person('ada@example.org');
    const sessions = [await signIn('ada@example.org', PASSWORD), await signIn('ada@example.org', PASSWORD)];
    await standing().revokeSessions(root(), id);
    for (const { token } of sessions) expect(await codeOf(authenticate(token))).toBe('auth.session.invalid');
    expect(await scene.auditOf('auth.session.revoked')).toMatchObject([
      { actor: rootId(), reason: 'revoked' },
      { actor: rootId() },
    ]);
  });

  it('knows neither the system actor nor who is not there', async () => {
    const system = await scene.person('system@system.invalid', { provider: 'system', provider_subject: 'system' });
    for (const id of [system, newId(), 'no-uuid']) {
      for (const act of [
        () => standing().activate(root(), id),
        () => standing().deactivate(root(), id),
        () => standing().grantAdmin(root(), id),
        () => standing().resetIdentity(root(), id),
        () => standing().revokeSessions(root(), id),
        () => accounts().resetPassword(root(), id),
        () => accounts().disable(root(), id),
        () => accounts().unlock(root(), id),
        () => erasure().erase(root(), id),
      ]) {
        expect([id, await codeOf(act())]).toEqual([id, 'auth.user.not_found']);
      }
    }
  });
});
