import { describe, expect, it } from '@jest/globals';
import { ConfigurationError } from './violation.js';
import { loadConfiguration } from './load.js';

const ACME = {
  name: 'acme',
  'client-id': 'penstock',
  'client-secret': 'planted-client-secret',
  'issuer-uri': 'https://login.acme.example',
};
const BASE = { DATAPIPELINES_AUTH_BASE_URL: 'https://data.example.com' };
const KEY = 'datapipelines.auth.oidc.providers';

function load(providers: unknown, environment: Record<string, string> = BASE) {
  return loadConfiguration({ ...environment, DATAPIPELINES_AUTH_OIDC_PROVIDERS: JSON.stringify(providers) });
}

function problemOf(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('identity providers in the configuration', () => {
  it('come from JSON in the environment or from a YAML sequence of mappings', () => {
    const expected = [
      {
        name: 'acme',
        clientId: 'penstock',
        clientSecret: 'planted-client-secret',
        issuerUri: 'https://login.acme.example',
        displayName: 'acme',
        trustEmailWithoutVerifiedClaim: false,
        signingAlgorithms: ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'],
      },
    ];
    expect(load([ACME]).get(KEY)).toEqual(expected);
    const yaml = `datapipelines:
  auth:
    oidc:
      providers:
        - name: acme
          client-id: penstock
          client-secret: planted-client-secret
          issuer-uri: https://login.acme.example
          trust-email-without-verified-claim: true
`;
    const file = loadConfiguration({ ...BASE, DATAPIPELINES_CONFIG_FILE: '/c.yaml' }, { readFile: () => yaml });
    expect(file.get(KEY)).toEqual([{ ...expected[0], trustEmailWithoutVerifiedClaim: true }]);
  });

  it.each<[string, unknown]>([
    ['a name that means something else', [{ ...ACME, name: 'local' }]],
    ['the name of the system actor', [{ ...ACME, name: 'system' }]],
    ['a reserved name in capitals', [{ ...ACME, name: 'BOOTSTRAP' }]],
    ['a name that is no path segment', [{ ...ACME, name: 'acme/..' }]],
    ['two of one name', [ACME, ACME]],
    ['the directory of every tenant', [{ ...ACME, 'issuer-uri': 'https://login.microsoftonline.com/common/v2.0' }]],
    ['any organisation', [{ ...ACME, 'issuer-uri': 'https://login.microsoftonline.com/organizations/v2.0' }]],
    ['an issuer that is no address', [{ ...ACME, 'issuer-uri': 'acme' }]],
    ['an issuer with a password', [{ ...ACME, 'issuer-uri': 'https://u:p@login.acme.example' }]],
    ['a field nobody reads', [{ ...ACME, scope: 'everything' }]],
    ['unsigned tokens', [{ ...ACME, 'signing-algorithms': ['RS256', 'none'] }]],
    ['tokens signed with a shared secret', [{ ...ACME, 'signing-algorithms': ['HS256'] }]],
    ['an algorithm nobody knows', [{ ...ACME, 'signing-algorithms': ['RS1'] }]],
    ['no algorithm at all', [{ ...ACME, 'signing-algorithms': [] }]],
    ['no secret', [{ ...ACME, 'client-secret': '' }]],
    ['something that is no list', { acme: ACME }],
  ])('refuse the start with %s, and never repeat the secret', (_what, providers) => {
    const problem = problemOf(() => load(providers));
    expect(problem).toContain(KEY);
    expect(problem).not.toContain('planted-client-secret');
  });

  it('may sign with what their entry lists, and then with nothing else', () => {
    const [provider] = load([{ ...ACME, 'signing-algorithms': ['ES512', 'RS384'] }]).get(KEY);
    expect(provider?.signingAlgorithms).toEqual(['ES512', 'RS384']);
  });

  it('need an address to send people back to', () => {
    expect(problemOf(() => load([ACME], {}))).toContain('datapipelines.auth.base-url is required');
  });

  it('with a blank client id are not offered, need no base URL, and are named in a warning', () => {
    const config = load([{ ...ACME, 'client-id': ' ' }], {});
    expect(config.warnings).toEqual([expect.stringContaining('acme has no client-id')]);
  });

  it('are a way to sign in: an external deployment needs no local accounts then', () => {
    const external = {
      ...BASE,
      DATABASE_URL: 'postgres://u:p@db.example.com/penstock',
      REDIS_URL: 'redis://redis.example.com',
      DATAPIPELINES_JWT_SECRET: Buffer.alloc(48, 1).toString('base64'),
      DATAPIPELINES_DB_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
    };
    expect(problemOf(() => load([ACME], external))).toBe('accepted');
    expect(problemOf(() => load([], external))).toContain('no other way to sign in');
    const hardened = { ...external, DATAPIPELINES_POSTURE: 'hardened' };
    expect(problemOf(() => load([ACME], hardened))).toBe('accepted');
    const plain = [{ ...ACME, 'issuer-uri': 'http://login.acme.example' }];
    expect(problemOf(() => load(plain, hardened))).toContain('https issuer-uri');
    const local = { ...hardened, DATAPIPELINES_AUTH_LOCAL_ENABLED: 'true' };
    expect(problemOf(() => load([], local))).toContain('datapipelines.auth.allow-local-only must be true');
  });
});
