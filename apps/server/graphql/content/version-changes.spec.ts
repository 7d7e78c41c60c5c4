import { describe, expect, it } from '@jest/globals';
import type { VersionSummary } from '#libs/lifecycle';
import { changesBetween, standing, workingOf } from './version-changes.js';

const at = (second: number): string => `2026-02-28T10:00:${String(second).padStart(2, '0')}.000Z`;

function version(number: number, over: Partial<VersionSummary> = {}): VersionSummary {
  return {
    version: number,
    status: 'RELEASED',
    body_hash: `hash ${number}`,
    is_current: false,
    created_at: at(1),
    created_by: 'ada',
    created_via: 'session',
    updated_at: null,
    updated_by: null,
    updated_via: 'session',
    released_at: at(2),
    released_by: 'ada',
    discarded_at: null,
    discarded_by: null,
    ...over,
  };
}

const draft = (number: number, over: Partial<VersionSummary> = {}): VersionSummary =>
  version(number, {
    status: 'DRAFT',
    released_at: null,
    released_by: null,
    updated_at: at(3),
    updated_by: 'ada',
    ...over,
  });

describe('what an editor is told', () => {
  it('at first is the version it should have open: the draft, else the current one, else the highest', () => {
    expect(workingOf([version(1, { is_current: true }), draft(2)])?.version).toBe(2);
    expect(workingOf([version(1, { is_current: true }), version(2)])?.version).toBe(1);
    expect(workingOf([version(1, { status: 'DISCARDED' }), version(2, { status: 'DISCARDED' })])?.version).toBe(2);
    expect(workingOf([])).toBeUndefined();
    expect(standing(draft(2))).toEqual({
      version: 2,
      status: 'DRAFT',
      body_hash: 'hash 2',
      updated_by: 'ada',
      updated_at: at(3),
    });
  });

  it('is nothing while nothing changes', () => {
    const versions = [version(1, { is_current: true }), draft(2)];
    expect(changesBetween(versions, structuredClone(versions))).toEqual([]);
  });

  it.each<[string, VersionSummary[], VersionSummary[], object[]]>([
    [
      'a new draft',
      [version(1)],
      [version(1), draft(2, { updated_by: 'eve' })],
      [{ version: 2, status: 'DRAFT', updated_by: 'eve' }],
    ],
    [
      'a save of the same body, which still moves the stamps',
      [draft(1)],
      [draft(1, { updated_at: at(9), updated_by: 'eve' })],
      [{ version: 1, updated_by: 'eve', updated_at: at(9) }],
    ],
    [
      'a release',
      [draft(1)],
      [version(1, { is_current: true, released_at: at(9), released_by: 'eve' })],
      [{ version: 1, status: 'RELEASED', updated_by: 'eve', updated_at: at(9) }],
    ],
    [
      'a discard',
      [version(1)],
      [version(1, { status: 'DISCARDED', discarded_at: at(9), discarded_by: 'eve' })],
      [{ version: 1, status: 'DISCARDED', updated_by: 'eve' }],
    ],
    [
      'a restore, of which no stamp tells',
      [version(1, { status: 'DISCARDED', discarded_at: at(9) })],
      [version(1)],
      [{ version: 1, status: 'RELEASED', updated_by: null, updated_at: null }],
    ],
    [
      'a switch, of which no stamp tells',
      [version(1), version(2, { is_current: true })],
      [version(1, { is_current: true }), version(2)],
      [{ version: 1, updated_by: null }],
    ],
    [
      'a purge: what is worked on instead',
      [version(1, { is_current: true }), draft(2)],
      [version(1, { is_current: true })],
      [{ version: 1, status: 'RELEASED', updated_by: null }],
    ],
    [
      'a purge and a new draft of the same number between two looks',
      [draft(1)],
      [draft(1, { body_hash: 'other', created_at: at(8), updated_at: at(8), updated_by: 'eve' })],
      [{ version: 1, body_hash: 'other', updated_by: 'eve' }],
    ],
    [
      'several at once, lowest first',
      [version(1), draft(2)],
      [draft(3), version(2, { released_at: at(9) }), version(1, { status: 'DISCARDED', discarded_at: at(9) })],
      [{ version: 1 }, { version: 2 }, { version: 3 }],
    ],
  ])('is %s', (_what, before, now, told) => {
    const changes = changesBetween(before, now);
    expect(changes).toHaveLength(told.length);
    expect(changes).toMatchObject(told);
  });
});
