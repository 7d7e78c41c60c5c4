import { describe, expect, it } from '@jest/globals';
import { identityInstance } from '../../../test/fixtures/identity.js';
import { codeOf, keyScene } from '../../../test/fixtures/key-scene.js';
import { newId } from '#libs/kernel';
import { mintKey } from '../keys/key-format.js';
import { AccessTrail } from './access-trail.js';
import { Admission } from './admission.js';

const scene = keyScene();

describe('a flood of wrong keys', () => {
  it('does not fill the trail, and one row behind it counts what was left out', async () => {
    const unknown = `dpk_${'A'.repeat(12)}.${'A'.repeat(48)}`;
    for (let n = 0; n < 70; n++) await codeOf(scene.present(unknown));
    expect(await scene.auditOf('auth.api_key.rejected')).toHaveLength(60);
    scene.instance.clock.advance(2);
    await codeOf(scene.present(unknown));
    const [told, next] = (await scene.auditOf('auth.api_key.rejected')).slice(60);
    expect(told).toMatchObject({ keyId: unknown.slice(0, 16), reason: 'unknown_or_revoked', suppressed: 10 });
    expect(next).not.toHaveProperty('suppressed');
    expect(await scene.auditOf('auth.api_key.rejected')).toHaveLength(62);
  });

  it('is counted to the last key by two instances together, each telling what it left out', async () => {
    const other = await identityInstance({ database: scene.database, channel: scene.instance.channel });
    const { key } = await scene.keys().create(scene.ada, { name: 'k' });
    const wrong = `${key.slice(0, -4)}${key.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
    for (let n = 0; n < 150; n++) await codeOf(scene.present(wrong, n % 3 === 0 ? other : scene.instance));
    for (const each of [scene.instance, other]) await each.get(AccessTrail).close();
    const rows = await scene.auditOf('auth.api_key.rejected');
    // Fifty on the one, a hundred on the other.
    expect(rows).toHaveLength(50 + 60 + 1);
    expect(rows.filter(({ suppressed }) => suppressed !== undefined)).toMatchObject([{ suppressed: 40 }]);
    await other.close();
  });

  it('counts what it left out apart from denials, which would take the number with them', async () => {
    const { key, apiKey } = await scene.keys().create(scene.ada, { name: 'k' });
    const wrong = `${key.slice(0, -4)}${key.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
    const reader = await scene.present(key);
    for (let n = 0; n < 62; n++) await codeOf(scene.present(wrong));
    scene.instance.clock.advance(2);
    expect(await codeOf(scene.instance.get(Admission).admit(reader, 'workspace.create'))).toBe('auth.session.required');
    await codeOf(scene.present(wrong));
    expect((await scene.auditOf('auth.api_key.rejected')).at(-2)).toMatchObject({ suppressed: 2 });
    expect(apiKey.id).toBe(reader.keyId);
  });

  it('counts keys that nobody has by the address they come from: there are as many as an attacker likes', async () => {
    for (let n = 0; n < 70; n++) await codeOf(scene.present(mintKey().key));
    expect(await scene.auditOf('auth.api_key.rejected')).toHaveLength(60);
  });
});

describe('a flood of forged requests', () => {
  it('is counted by network: whoever owns one has more addresses than the trail has room for rows', async () => {
    const trail = scene.instance.get(AccessTrail);
    const forge = (sourceIp: string) => trail.csrfRejected({ correlationId: newId(), sourceIp }, '/login', 'missing');
    for (let n = 0; n < 70; n++) await forge(`2001:db8:0:1::${n.toString(16)}`);
    expect(await scene.auditOf('auth.csrf.rejected')).toHaveLength(60);
    expect(trail.denialsLeftOut).toBe(10);
    await forge('2001:db8:0:2::1');
    expect(await scene.auditOf('auth.csrf.rejected')).toHaveLength(61);
  });
});
