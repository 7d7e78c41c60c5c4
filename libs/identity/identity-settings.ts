import type { Scope } from '#libs/kernel';

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
  defaultScopes: readonly Scope[];
  /** 0 means no limit. */
  keyMaxLifetimeDays: number;
  cacheTtlSeconds: number;
  bootstrapAdminEmail?: string;
  bootstrapPassword?: string;
  bootstrapPasswordHash?: string;
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
  readonly defaultScopes!: readonly Scope[];
  readonly keyMaxLifetimeDays!: number;
  readonly cacheTtlSeconds!: number;
  readonly bootstrapAdminEmail?: string;
  readonly bootstrapPassword?: string;
  readonly bootstrapPasswordHash?: string;
  readonly embedded!: boolean;

  constructor(options: IdentityOptions) {
    Object.assign(this, options);
  }
}
