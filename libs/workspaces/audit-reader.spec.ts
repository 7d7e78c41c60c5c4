import { describe, expect, it } from '@jest/globals';
import { DEFAULT_WORKSPACE_ID } from '#libs/identity';
import type { Principal } from '#libs/kernel';
import { AuditReader } from './audit-reader.js';
import { ADMIN, codeOf, workspaceScene } from '../../test/fixtures/workspace-scene.js';

const scene = workspaceScene();

describe('reading the trail', () => {
  it('shows administrators their workspace, super admins the instance, others nothing', async () => {
    const eve = await scene.join(await scene.account('eve@example.org'), DEFAULT_WORKSPACE_ID, ADMIN);
    const ada = await scene.join(await scene.account('ada@example.org'), DEFAULT_WORKSPACE_ID, { author: true });
    await scene.workspaces().create(scene.root, { name: 'elsewhere' });
    for (let n = 0; n < 3; n++) await scene.members().add(eve, 'default', { email: `p${n}@example.org` });
    const reader = scene.instance.get(AuditReader);
    const events = async (who: Principal, instance_ = false) =>
      (await reader.list(who, { instance: instance_ })).items.map(({ event }) => event);
    expect(await events(eve)).toEqual(Array(3).fill('workspace.member_invited'));
    expect(await events(scene.root, true)).toEqual([
      ...Array(3).fill('workspace.member_invited'),
      'auth.workspace.created',
    ]);
    expect(await codeOf(events(eve, true))).toBe('auth.role_required');
    expect(await codeOf(events(ada))).toBe('auth.role_required');

    const first = await reader.list(eve, {}, { first: 2 });
    expect([first.items.length, first.hasNext, first.hasPrevious]).toEqual([2, true, false]);
    const rest = await reader.list(eve, {}, { first: 2, after: first.items[1]?.cursor });
    expect([rest.items.length, rest.hasNext, rest.hasPrevious]).toEqual([1, false, true]);
    for (const cursor of ['x', '2026-02-31T00:00:00Z,1', `2026-01-01T00:00:00Z,${'9'.repeat(19)}`, '-infinity,1']) {
      // PostgreSQL would fail on these: a fault of ours, where it is one of the request's.
      expect(await codeOf(reader.list(eve, {}, { first: 2, after: cursor }))).toBe(
        'pipeline.execution.invalid_parameter_type',
      );
    }
    const back = await reader.list(eve, {}, { last: 2, before: rest.items[0]?.cursor });
    expect(back.items.map(({ id }) => id)).toEqual(first.items.map(({ id }) => id));
    expect((await reader.list(eve, {}, { last: 1 })).items[0]?.id).toBe(rest.items[0]?.id);
    for (const after of ['', 'x', '2026-01-01T00:00:00Z,1;DROP', '2026-01-01T00:00:00Z'])
      expect(await codeOf(reader.list(eve, {}, { after }))).toBe('pipeline.execution.invalid_parameter_type');
  });
});
