import {
  Configuration,
  PenstockError,
  SCOPES,
  usableProviders,
  type OidcProviderSetting,
  type Scope,
} from '#libs/kernel';

/** What the configuration says about identity, read once at boot; keys of contract 04 §14. */
export interface IdentityOptions {
  /** Current secret first, then those that only verify; at least 32 bytes each. */
  jwtSecrets: readonly Uint8Array[];
  sessionTtlHours: number;
  /** 0 switches the idle rule off. */
  sessionIdleMinutes: number;
  sessionsPerUser: number;
  localAccounts: boolean;
  lockoutFailures: number;
  lockoutMinutes: number;
  oneTimePasswordHours: number;
  /** People may ask for a reset link, where mail is on. */
  selfServiceReset: boolean;
  resetTokenMinutes: number;
  resetMaxPerHour: number;
  userErasure: 'deactivate' | 'anonymise';
  defaultScopes: readonly Scope[];
  /** 0 means no limit. */
  keyMaxLifetimeDays: number;
  cacheTtlSeconds: number;
  /** Where providers send people back to. */
  baseUrl?: string;
  providers: readonly OidcProviderSetting[];
  relinkPolicy: 'verified-email' | 'never';
  /** Empty admits every domain. */
  allowedDomains: readonly string[];
  bootstrapAdminEmail?: string;
  /** The administrator's row is made at boot even without a password: declared content waits for him. */
  bootstrapPrepared: boolean;
  bootstrapPassword?: string;
  bootstrapPasswordHash?: string;
  /** The value a promoting deployment may present instead of a server key. */
  promotionServerKey?: string;
  /** Embedded mode: a password for the bootstrap admin is made up when none is configured. */
  embedded: boolean;
}

/** Injectable form of {@link IdentityOptions}; the composition root builds it. */
export class IdentitySettings implements Readonly<IdentityOptions> {
  readonly jwtSecrets!: readonly Uint8Array[];
  readonly sessionTtlHours!: number;
  readonly sessionIdleMinutes!: number;
  readonly sessionsPerUser!: number;
  readonly localAccounts!: boolean;
  readonly lockoutFailures!: number;
  readonly lockoutMinutes!: number;
  readonly oneTimePasswordHours!: number;
  readonly selfServiceReset!: boolean;
  readonly resetTokenMinutes!: number;
  readonly resetMaxPerHour!: number;
  readonly userErasure!: 'deactivate' | 'anonymise';
  readonly defaultScopes!: readonly Scope[];
  readonly keyMaxLifetimeDays!: number;
  readonly cacheTtlSeconds!: number;
  readonly baseUrl?: string;
  readonly providers!: readonly OidcProviderSetting[];
  readonly relinkPolicy!: 'verified-email' | 'never';
  readonly allowedDomains!: readonly string[];
  readonly bootstrapAdminEmail?: string;
  readonly bootstrapPrepared!: boolean;
  readonly bootstrapPassword?: string;
  readonly bootstrapPasswordHash?: string;
  readonly promotionServerKey?: string;
  readonly embedded!: boolean;

  constructor(options: IdentityOptions) {
    Object.assign(this, options);
  }
}

/** @throws when the signing secret is missing: the boot checks it first, so this is a mistake of the wiring */
export function identitySettings(config: Configuration): IdentitySettings {
  const secret = config.get('datapipelines.jwt.secret');
  if (secret === undefined) throw new PenstockError('internal', { message: 'The session secret is not configured.' });
  const secrets = [secret, ...config.get('datapipelines.jwt.previous-secrets')];
  const scopes = config.get('datapipelines.auth.api-keys.default-scopes');
  return new IdentitySettings({
    jwtSecrets: secrets.map((text) => Buffer.from(text, 'base64')),
    sessionTtlHours: config.get('datapipelines.auth.jwt.ttl-hours'),
    sessionIdleMinutes: config.get('datapipelines.auth.session.idle-minutes'),
    sessionsPerUser: config.get('datapipelines.auth.session.max-per-user'),
    localAccounts: config.get('datapipelines.auth.local.enabled'),
    lockoutFailures: config.get('datapipelines.auth.local.lockout.max-failures'),
    lockoutMinutes: config.get('datapipelines.auth.local.lockout.duration-minutes'),
    oneTimePasswordHours: config.get('datapipelines.auth.local.one-time-password-hours'),
    selfServiceReset: config.get('datapipelines.auth.local.self-service-reset'),
    resetTokenMinutes: config.get('datapipelines.auth.local.reset-token-minutes'),
    resetMaxPerHour: config.get('datapipelines.auth.local.reset-max-per-hour'),
    userErasure: config.get('datapipelines.privacy.user-erasure'),
    defaultScopes: SCOPES.filter((scope) => scopes.includes(scope)),
    keyMaxLifetimeDays: config.get('datapipelines.auth.api-keys.max-lifetime-days'),
    cacheTtlSeconds: config.get('datapipelines.auth.api-keys.cache-ttl-seconds'),
    baseUrl: config.get('datapipelines.auth.base-url'),
    providers: usableProviders(config.get('datapipelines.auth.oidc.providers')),
    relinkPolicy: config.get('datapipelines.auth.oidc.relink-policy'),
    allowedDomains: config.get('datapipelines.auth.allowlist.domains'),
    bootstrapAdminEmail: config.get('datapipelines.auth.bootstrap-admin-email'),
    bootstrapPrepared: config.get('datapipelines.bootstrap.datasources-file') !== undefined,
    bootstrapPassword: config.get('datapipelines.auth.local.bootstrap-password'),
    bootstrapPasswordHash: config.get('datapipelines.auth.local.bootstrap-password-hash'),
    promotionServerKey: config.get('datapipelines.deployment.promotion.server-key'),
    embedded: config.mode === 'embedded',
  });
}
