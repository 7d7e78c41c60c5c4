import { IdentitySettings, type IdentityOptions } from './identity-settings.js';

/** Settings of the tests: the contract's defaults with local accounts on. */
export function testSettings(overrides: Partial<IdentityOptions> = {}): IdentitySettings {
  return new IdentitySettings({
    jwtSecrets: [new Uint8Array(32).fill(7)],
    sessionTtlHours: 8,
    sessionIdleMinutes: 120,
    sessionsPerUser: 20,
    localAccounts: true,
    lockoutFailures: 5,
    lockoutMinutes: 15,
    oneTimePasswordHours: 72,
    defaultScopes: ['read'],
    keyMaxLifetimeDays: 0,
    cacheTtlSeconds: 60,
    embedded: false,
    ...overrides,
  });
}
