import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PenstockError } from '#libs/kernel';
import { PathMatcher } from './path-matcher.js';
import { ancestors, conflicts, parsePathPattern } from './path-pattern.js';

const reasonOf = (input: string): unknown => {
  try {
    parsePathPattern(input);
  } catch (error) {
    if (error instanceof PenstockError) return [error.code, error.details['reason']];
    throw error;
  }
  return 'accepted';
};

describe('path patterns', () => {
  it.each([
    ['lending/home', 'leading_slash'],
    ['/lending/', 'trailing_slash'],
    ['/', 'trailing_slash'],
    ['/a//b', 'segment'],
    ['/Lending', 'segment'],
    ['/a/*', 'segment'],
    ['/a/{X}', 'segment'],
    ['/a/{x}b', 'segment'],
    ['/a/..', 'segment'],
    ['/ä', 'segment'],
    ['/a%20b', 'segment'],
    ['/{x}/{x}', 'repeated_variable'],
    [`/${'a/'.repeat(10)}a`, 'too_many_segments'],
    [`/${Array(6).fill('a'.repeat(40)).join('/')}`, 'too_long'],
  ])('refuses %s, because a URL must have one spelling', (input, reason) => {
    expect(reasonOf(input)).toEqual(['endpoint.path_invalid', reason]);
  });

  it('may be as long as 200 characters, of segments as long as 64, and no longer', () => {
    expect(reasonOf(`/${'a'.repeat(64)}`)).toBe('accepted');
    expect(reasonOf(`/${'a'.repeat(65)}`)).toEqual(['endpoint.path_invalid', 'segment']);
    const longest = `/${[64, 64, 64, 4].map((length) => 'a'.repeat(length)).join('/')}`;
    expect([longest.length, reasonOf(longest)]).toEqual([200, 'accepted']);
    expect(reasonOf(`${longest}a`)).toEqual(['endpoint.path_invalid', 'too_long']);
  });

  it('strips one leading /api/x, so that people may paste the URL they call', () => {
    expect(parsePathPattern('/api/x/travel/{city}').text).toBe('/travel/{city}');
    expect(parsePathPattern('/api/x/travel/{city}').variables).toEqual(['city']);
  });

  it.each([
    ['/a/{x}', '/a/b', true],
    ['/a/{x}', '/{y}/b', true],
    ['/a/b', '/a/b', true],
    ['/a/b', '/a/c', false],
    ['/a/{x}', '/a/{x}/c', false],
    ['/{x}/b', '/a/c', false],
  ])('%s and %s conflict: %s', (one, other, expected) => {
    const patterns = [parsePathPattern(one), parsePathPattern(other)] as const;
    expect(conflicts(...patterns)).toBe(expected);
    expect(conflicts(patterns[1], patterns[0])).toBe(expected);
  });

  it('walks from the pattern up to the root, deepest first', () => {
    expect(ancestors('/a/{x}/c')).toEqual(['/a/{x}/c', '/a/{x}', '/a', '/']);
  });
});

describe('matching', () => {
  const matcher = new PathMatcher(
    ['/travel/delays/{city}', '/travel/delays/{city}/days', '/status'].map((text) => ({
      pattern: parsePathPattern(text),
      target: text,
    })),
  );

  it.each([
    ['/status', '/status', {}],
    ['/travel/delays/New%20York', '/travel/delays/{city}', { city: 'New York' }],
    ['/travel/delays/%C3%BCber/days', '/travel/delays/{city}/days', { city: 'über' }],
  ])('%s is %s', (path, target, variables) => {
    const match = matcher.match(path);
    expect(match?.target).toBe(target);
    expect(Object.fromEntries(match?.variables ?? [])).toEqual(variables);
  });

  it.each([
    '/Status',
    '/status/',
    '/stat%75s',
    '/travel/delays/',
    '/travel/delays/%ff',
    '/travel',
    '/',
    '',
    '//status',
  ])('%s matches nothing: literals are byte-exact and a variable is never empty', (path) => {
    expect(matcher.match(path)).toBeUndefined();
  });

  it('never throws and agrees with the conflict rule, whatever is asked', () => {
    const segment = fc.constantFrom('a', 'b', '{x}', '{y}', 'c-1');
    const pattern = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join('/')}`);
    fc.assert(
      fc.property(
        pattern,
        pattern,
        fc.array(fc.constantFrom('a', 'b', 'c-1', 'zz', '%ff', ''), { maxLength: 4 }),
        (one, other, parts) => {
          fc.pre(!/(\{.\}).*\1/.test(one) && !/(\{.\}).*\1/.test(other));
          const path = `/${parts.join('/')}`;
          const patterns = [parsePathPattern(one), parsePathPattern(other)] as const;
          const both = patterns.every(
            (each) => new PathMatcher([{ pattern: each, target: 1 }]).match(path) !== undefined,
          );
          return !both || conflicts(...patterns);
        },
      ),
    );
  });
});
