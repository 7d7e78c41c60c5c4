import { describe, expect, it } from '@jest/globals';
import type { CurrentVersion } from '#libs/pipelines';
import { endpointStands, isCandidate, refusalOfTarget, refusalsOf, standingOf, stands } from './promotion-rules.js';
import type { Inventory } from './inventory.js';

const here = (version: number, bodyHash: string, status: CurrentVersion['status'] = 'RELEASED'): CurrentVersion => ({
  ...{ pipelineId: 'p', name: 'a/b', displayName: 'B' },
  ...{ version, bodyHash, status },
});
const there = (current_version: number, body_hash: string) => ({ name: 'a/b', current_version, body_hash });
const endpoint = {
  ...{ path: '/a', pipeline: 'a/b', timeout_seconds: 30, description: '', enabled: true },
  bindings: [{ path_prefix: '/a', key_name: 'k' }],
};

function inventory(over: Partial<Inventory> = {}): Inventory {
  const nothing = { pipelines: [], templates: [], datasources: [], endpoints: [], endpoint_keys: [] };
  return { deployment: 'prod', authoring_enabled: false, workspace: 'default', ...nothing, ...over };
}

describe('what may be promoted', () => {
  it.each([
    ['the first release of what the target never had', here(1, 'x'), undefined, true],
    ['a newer one of another content', here(3, 'y'), there(2, 'x'), true],
    ['the very same', here(2, 'x'), there(2, 'x'), false],
    ['the same number of another content', here(2, 'y'), there(2, 'x'), false],
    ['an older one', here(1, 'y'), there(2, 'x'), false],
    ['a higher number of the same content', here(3, 'x'), there(2, 'x'), false],
    ['a draft', here(3, 'y', 'DRAFT'), there(2, 'x'), false],
  ])('%s: %#', (_what, mine, theirs, expected) => {
    expect(isCandidate(mine, theirs)).toBe(expected);
  });

  it('leaves out what stands there, by number and hash both', () => {
    expect(stands(here(2, 'x'), there(2, 'x'))).toBe(true);
    expect(stands(here(2, 'x'), there(2, 'y'))).toBe(false);
    expect(stands(here(2, 'x'), there(1, 'x'))).toBe(false);
    expect(stands(here(2, 'x'), undefined)).toBe(false);
  });

  it('leaves out an endpoint whose keys are bound at the path itself there, where a promotion binds them, and at no other node', () => {
    const boundAt = (node: string) => ({ ...endpoint, path: '/a/b', bindings: [{ path_prefix: node, key_name: 'k' }] });
    expect([endpointStands(boundAt('/a'), boundAt('/a/b')), endpointStands(boundAt('/a'), boundAt('/a'))]).toEqual([
      true,
      true,
    ]);
    // A wider node may let in whom the narrower one keeps out.
    expect([endpointStands(boundAt('/a/b'), boundAt('/a')), endpointStands(boundAt('/a'), boundAt('/'))]).toEqual([
      false,
      false,
    ]);
  });

  it('leaves out an endpoint only when nothing of it differs; a key bound there beside ours is no difference', () => {
    const more = { ...endpoint, bindings: [...endpoint.bindings, { path_prefix: '/', key_name: 'theirs' }] };
    expect([endpointStands(endpoint, endpoint), endpointStands(endpoint, more)]).toEqual([true, true]);
    for (const change of [
      { pipeline: 'c/d' },
      { timeout_seconds: 31 },
      { description: 'x' },
      { enabled: false },
      { bindings: [] },
    ]) {
      expect([change, endpointStands(endpoint, { ...endpoint, ...change })]).toEqual([change, false]);
    }
    expect(endpointStands(endpoint, undefined)).toBe(false);
  });
});

describe('what keeps a pipeline back', () => {
  const release = (datasources: string[], status: CurrentVersion['status'] = 'RELEASED') => ({
    ...{ id: 'p', name: 'a/b', version: 1, status, bodyHash: 'x', record: {} },
    ...{ datasources, children: [], templates: [] },
  });
  const codes = (wish: Parameters<typeof refusalsOf>[0], target: Inventory) =>
    refusalsOf(wish, standingOf(target), 'row').map(({ code, details }) => [
      code,
      details?.['datasources'] ?? details?.['keys'],
    ]);

  it('are all datasources that the whole tree needs and all keys of its endpoints, each once', () => {
    const wish = { current: here(1, 'x'), releases: [release(['c', 'a']), release(['b', 'a'])], endpoints: [endpoint] };
    expect(codes(wish, inventory({ datasources: ['b'] }))).toEqual([
      ['pipeline.promotion.missing_datasources', ['a', 'c']],
      ['endpoint.promotion.key_missing', ['k']],
    ]);
    expect(codes(wish, inventory({ datasources: ['a', 'b', 'c'], endpoint_keys: ['k'] }))).toEqual([]);
  });

  it('is a part that is no release, before anything else', () => {
    const wish = { current: here(1, 'x'), releases: [release(['a'], 'DISCARDED')], endpoints: [] };
    expect(codes(wish, inventory())).toEqual([['pipeline.promotion.not_released', undefined]]);
  });

  it('is that people write on the target, whatever is promoted', () => {
    expect(refusalOfTarget(standingOf(inventory()))).toEqual([]);
    expect(refusalOfTarget(standingOf(inventory({ authoring_enabled: true })))).toMatchObject([
      { code: 'pipeline.promotion.target_is_authoring', details: { deployment: 'prod' } },
    ]);
  });
});
