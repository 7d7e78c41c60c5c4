/** Scopes of a user key, lowest first (04 §6.1). `admin` is never stored on a key. */
export const SCOPES = ['read', 'execute', 'author'] as const;
export type Scope = (typeof SCOPES)[number];

export type ApiKeyKind = 'user' | 'endpoint' | 'server';

/** The surface a write arrived on, stamped on version rows (seed §4.5). */
export type WriteSurface = 'session' | 'api_key' | 'mcp';

/** Flags of a membership; all false is a viewer. */
export interface MemberFlags {
  author: boolean;
  promoter: boolean;
  admin: boolean;
}

/** The workspace a principal acts in. */
export interface ActingWorkspace {
  id: string;
  name: string;
  flags: MemberFlags;
  /** Acts by being super admin; always false for a key, whoever owns it. */
  superAdmin: boolean;
  /** A super admin without a membership of his own: audited per operation. */
  implicit: boolean;
}

/** Who acts, where, and through which credential. First argument of every service operation; never ambient (04 §1). */
export interface Principal {
  userId: string;
  email: string;
  displayName: string;
  method: 'session' | 'api_key' | 'promotion' | 'system';
  surface: WriteSurface;
  amr?: 'pwd' | 'oidc';
  sessionId?: string;
  keyId?: string;
  keyKind?: ApiKeyKind;
  /** Empty unless `keyKind` is `user`. */
  scopes: readonly Scope[];
  /** `users.is_admin`; false for every key. */
  superAdmin: boolean;
  mustChangePassword: boolean;
  workspace?: ActingWorkspace;
  /** Facts of the request, for audit rows and execution records. */
  correlationId: string;
  sourceIp?: string;
  userAgent?: string;
}
