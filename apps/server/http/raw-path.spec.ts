import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isPenstockError } from '#libs/kernel';
import { classifyPath, isPagePath, isPublic } from './raw-path.js';

const refusal = (url: string): string | undefined => {
  try {
    classifyPath(url);
    return undefined;
  } catch (error) {
    return isPenstockError(error) ? String(error.details['reason'] ?? error.code) : 'no PenstockError';
  }
};

describe('the class of a path', () => {
  it.each([
    ['/api/v1/pipelines', 'rest'],
    ['/api/v1/promotion', 'promotion'],
    ['/api/v1/promotion/push', 'promotion'],
    ['/api/v1/promotions', 'rest'],
    ['/api/v1/Promotion/push', 'rest'],
    ['/promotion/push', 'page'],
    ['/api/v1/auth/providers', 'public_rest'],
    ['/api/v1/auth/password-reset/request', 'password_reset'],
    ['/api/v1/auth/password-reset/confirm', 'password_reset'],
    ['/api/v1/auth/password-reset/', 'rest'],
    ['/api/v1/auth/providers/', 'rest'],
    ['/api/x/a', 'endpoint'],
    ['/api/x', 'page'],
    ['/graphql', 'graphql'],
    ['/graphql/stream', 'graphql_stream'],
    ['/graphql/', 'page'],
    ['/mcp', 'mcp'],
    ['/mcp/', 'page'],
    ['/MCP', 'page'],
    ['/GraphQL', 'page'],
    ['/login', 'login'],
    ['/login/', 'page'],
    ['/login/oauth2/code/x', 'oidc'],
    ['/oauth2/authorization/x', 'oidc'],
    ['/health', 'probe'],
    ['/healthz', 'page'],
    ['/docs/errors', 'docs'],
    ['/docs', 'page'],
    ['/assets/x.js', 'asset'],
    ['/', 'public_page'],
    ['/constructor', 'page'],
    ['/%61pi/v1/pipelines', 'page'],
    ['//api/v1/pipelines', 'page'],
  ])('%s is %s: byte-exact, so that no spelling slips past a guard', (url, expected) => {
    expect(classifyPath(url).class).toBe(expected);
    expect(classifyPath(`${url}?a=/api/x/b`)).toMatchObject({ class: expected, path: url, query: 'a=/api/x/b' });
  });

  it.each([
    ['/a%2Fb', 'encoded_separator'],
    ['/a%2fb', 'encoded_separator'],
    ['/a%5cb', 'encoded_separator'],
    ['/a%00', 'encoded_separator'],
    ['/a\\b', 'forbidden_character'],
    ['/a;b', 'forbidden_character'],
    ['/a b', 'forbidden_character'],
    ['/\u00e4', 'forbidden_character'],
    ['/a?\u00e4', 'forbidden_character'],
    ['/a%zz', 'percent_encoding'],
    ['/a%', 'percent_encoding'],
    ['/%ff', 'percent_encoding'],
    ['/%ed%a0%80', 'percent_encoding'],
    ['/a/./b', 'dot_segment'],
    ['/a/..', 'dot_segment'],
    ['/%2e%2E/b', 'dot_segment'],
    ['/.%2e', 'dot_segment'],
    ['*', 'not_absolute'],
    ['http://host/a', 'not_absolute'],
    [`/${'a'.repeat(8192)}`, 'request.uri_too_long'],
  ])('%p is refused as %s', (url, reason) => {
    expect(refusal(url)).toBe(reason);
  });

  it('accepts exactly 8 KiB, and names with dots that are no dot segments', () => {
    for (const url of [`/${'a'.repeat(8191)}`, '/a..b', '/...', '/.well-known/x', '/%C3%A4']) expect(refusal(url)).toBeUndefined();
  }); // prettier-ignore

  it('gives any text a class or a catalogued refusal, never another failure', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        expect(refusal(`/${text}`)).not.toBe('no PenstockError');
      }),
    );
  });

  it('holds the public list and nothing else open', () => {
    expect(['/login', '/health', '/docs/x', '/assets/x', '/'].every((path) => isPublic(classifyPath(path).class))).toBe(true);
    for (const path of ['/api/v1/x', '/api/x/x', '/graphql', '/logout', '/workspace/switch', '/anything', '/settings/password'])
      expect([path, isPublic(classifyPath(path).class)]).toEqual([path, false]);
  }); // prettier-ignore

  it('sends no machine to a page', () => {
    expect(isPagePath(classifyPath('/pipelines'))).toBe(true);
    for (const path of ['/api', '/api/v2/x', '/graphql/x', '/mcp', '/skill', '/.well-known/x', '/health'])
      expect([path, isPagePath(classifyPath(path))]).toEqual([path, false]);
  });
});
