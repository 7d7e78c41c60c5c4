import { describe, expect, it } from '@jest/globals';
import { newId } from '#libs/kernel';
import { administrationScene } from '../../../test/fixtures/administration-scene.js';
import { codeOf } from '../../../test/fixtures/login-scene.js';

const PAGE = { first: 50 };
const { directory, root, rootId, scene } = administrationScene();

describe('the list of people', () => {
  it('finds by part of an address or name in any case, pages by address, and leaves out the system actor', async () => {
    await scene.person('system@system.invalid', { provider: 'system', provider_subject: 'system' });
    await scene.person('zoe@example.org', { display_name: 'Zoë 100%_sure' });
    await scene.person('bob@other.org', { display_name: 'Bob' });
    const emails = async (q?: string) => (await directory().list(root(), q, PAGE)).items.map(({ email }) => email);
    expect(await emails()).toEqual(['bob@other.org', 'root@example.org', 'zoe@example.org']);
    expect(await emails('EXAMPLE.org')).toEqual(['root@example.org', 'zoe@example.org']);
    expect(await emails('zoË')).toEqual(['zoe@example.org']);
    expect(await emails('%')).toEqual(['zoe@example.org']);
    const page = await directory().list(root(), undefined, { first: 1, skip: 1 });
    expect([page.items[0]?.email, page.hasNext, page.hasPrevious]).toEqual(['root@example.org', true, true]);
    expect(await directory().count(root(), undefined)).toBe(3);
    const first = await directory().list(root(), '', { first: 2 });
    const rest = await directory().list(root(), '', { first: 2, after: first.items[1]?.email });
    expect(rest.items.map(({ email }) => email)).toEqual(['zoe@example.org']);
    expect(await codeOf(directory().list(root(), 'x'.repeat(255), PAGE))).toBe(
      'pipeline.execution.invalid_parameter_type',
    );
  });

  it('tells nothing of passwords but whether there is one', async () => {
    const view = await directory().read(root(), rootId());
    expect(JSON.stringify(view)).not.toContain('argon2');
    expect(view).toMatchObject({ has_password: true, failed_login_count: 0 });
    expect(await codeOf(directory().read(root(), newId()))).toBe('auth.user.not_found');
    expect(await codeOf(directory().read(root(), 'no-uuid'))).toBe('auth.user.not_found');
  });
});
