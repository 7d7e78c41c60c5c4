import { describe, expect, it } from '@jest/globals';
import type { Principal } from '#libs/kernel';
import { pagesOfParents } from '../schema/page-of-parent.js';
import { Batch, Loaders } from './batch.js';

const caller = { userId: 'u' } as Principal;

describe('Loaders', () => {
  it('read what many parents ask for once and together, at most 200 at a time', async () => {
    const reads: number[] = [];
    const batch = new Batch<number, string>((_principal, keys) => {
      reads.push(keys.length);
      return Promise.resolve(new Map(keys.filter((key) => key !== 7).map((key) => [String(key), `v${key}`])));
    });
    const loaders = new Loaders(caller);
    const keys = Array.from({ length: 250 }, (_, key) => key);
    const found = await Promise.all([...keys, ...keys].map((key) => loaders.load(batch, key)));
    expect(reads).toEqual([200, 50]);
    expect([found[0], found[7], found[250]]).toEqual(['v0', undefined, 'v0']);
  });

  it('do not share what another principal has read', async () => {
    const batch = new Batch<string, string>((principal, keys) =>
      Promise.resolve(new Map(keys.map((key) => [key, principal.userId]))),
    );
    const [mine, theirs] = await Promise.all([
      new Loaders(caller).load(batch, 'k'),
      new Loaders({ ...caller, userId: 'other' }).load(batch, 'k'),
    ]);
    expect([mine, theirs]).toEqual(['u', 'other']);
  });
});

describe('pagesOfParents', () => {
  it('answers parents with the same page by one read, and others by their own', async () => {
    const reads: [readonly string[], unknown][] = [];
    const batch = pagesOfParents<{ q?: string }, string>((_principal, parents, page, filter) => {
      reads.push([parents, { page, filter }]);
      return Promise.resolve(new Map(parents.map((parent) => [parent, `${parent}:${page.first ?? ''}`])));
    });
    const loaders = new Loaders(caller);
    const ask = (parent: string, first: number) => loaders.load(batch, { parent, page: { first }, filter: {} });
    expect(await Promise.all([ask('a', 2), ask('b', 2), ask('a', 3)])).toEqual(['a:2', 'b:2', 'a:3']);
    expect(reads.map(([parents]) => parents)).toEqual([['a', 'b'], ['a']]);
  });
});
