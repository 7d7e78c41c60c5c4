import { Injectable } from '@nestjs/common';
import { isUuid, PenstockError, toWireStamp, type MemberFlags, type Principal, type Scope } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { authoriseSelf } from '../authorise.js';
import { ProfileRepository, type Theme } from './profile.repository.js';

/** `GET /auth/me` (contract 04 §1), wire form. */
export interface MeView {
  user_id: string;
  email: string;
  display_name: string;
  auth_method: Principal['method'];
  scopes: Scope[];
  key_id?: string;
  workspace?: { name: string; flags: MemberFlags };
  super_admin: boolean;
  must_change_password: boolean;
  /** null: no choice; the deployment's default applies. */
  theme_preference: string | null;
}

/** A user as others see one. `email` only to oneself, an administrator of a shared workspace and super admins. */
export interface ActorView {
  id: string;
  display_name: string;
  profile_picture_url: string | null;
  email?: string;
}

/** A user as himself; sign-in counters are null for others than super admins. */
export interface AccountView {
  id: string;
  email: string;
  display_name: string;
  profile_picture_url: string | null;
  provider: string;
  is_active: boolean;
  is_admin: boolean;
  theme_preference: string | null;
  has_password: boolean;
  password_changed_at: string | null;
  must_change_password: boolean;
  failed_login_count: number | null;
  locked_until: string | null;
  created_at: string;
  updated_at: string;
  last_login_at: string | null;
}

const THEMES: readonly (Theme | null)[] = ['dark', 'light', null];

/** Oneself, and the names behind ids. */
@Injectable()
export class UserService {
  constructor(
    private readonly db: Database,
    private readonly profiles: ProfileRepository,
  ) {}

  async me(principal: Principal): Promise<MeView> {
    authoriseSelf(principal, 'profile.read');
    const { workspace } = principal;
    return {
      user_id: principal.userId,
      email: principal.email,
      display_name: principal.displayName,
      auth_method: principal.method,
      scopes: [...principal.scopes],
      ...(principal.keyId === undefined ? {} : { key_id: principal.keyId }),
      ...(workspace ? { workspace: { name: workspace.name, flags: workspace.flags } } : {}),
      super_admin: principal.superAdmin,
      must_change_password: principal.mustChangePassword,
      theme_preference: await this.profiles.theme(this.db, principal.userId),
    };
  }

  /** One's own account. What sign-in counts is for super admins (contract 04 §8). */
  async account(principal: Principal): Promise<AccountView> {
    authoriseSelf(principal, 'profile.read');
    const row = await this.profiles.account(this.db, principal.userId);
    if (!row) throw new PenstockError('auth.user.not_found');
    const stamp = (text: string | null): string | null => (text === null ? null : toWireStamp(text));
    return {
      id: row.id,
      email: row.email,
      display_name: row.displayName,
      profile_picture_url: row.profilePictureUrl,
      provider: row.provider,
      is_active: row.isActive,
      is_admin: row.isAdmin,
      theme_preference: row.theme,
      has_password: row.hasPassword,
      password_changed_at: stamp(row.passwordChangedAt),
      must_change_password: row.mustChangePassword,
      failed_login_count: principal.superAdmin ? row.failedLoginCount : null,
      locked_until: principal.superAdmin ? stamp(row.lockedUntil) : null,
      created_at: toWireStamp(row.createdAt),
      updated_at: toWireStamp(row.updatedAt),
      last_login_at: stamp(row.lastLoginAt),
    };
  }

  /** @throws the generic 400 for anything but `dark`, `light` and null */
  async setTheme(principal: Principal, theme: unknown): Promise<MeView> {
    authoriseSelf(principal, 'profile.preference');
    const chosen = THEMES.find((known) => known === theme);
    if (chosen === undefined) {
      throw new PenstockError('pipeline.execution.invalid_parameter_type', {
        message: 'theme_preference is "dark", "light" or null.',
        details: { field: 'theme_preference', reason: 'field' },
      });
    }
    await this.profiles.setTheme(this.db, principal.userId, chosen);
    return this.me(principal);
  }

  /**
   * The people behind ids, in one query. Unknown ids are absent. With a `viewer`, addresses that this viewer may see.
   */
  async actor(ids: readonly string[], viewer?: Principal): Promise<Map<string, ActorView>> {
    const known = [...new Set(ids)].filter(isUuid);
    if (known.length === 0) return new Map();
    const [rows, visible] = await Promise.all([
      this.profiles.actors(this.db, known),
      viewer ? this.#addressesSeenBy(viewer, known) : new Set<string>(),
    ]);
    return new Map(
      rows.map(({ id, email, displayName, profilePictureUrl }) => [
        id,
        {
          id,
          display_name: displayName,
          profile_picture_url: profilePictureUrl,
          ...(visible.has(id) ? { email } : {}),
        },
      ]),
    );
  }

  async #addressesSeenBy(viewer: Principal, ids: readonly string[]): Promise<Set<string>> {
    if (viewer.superAdmin) return new Set(ids);
    return new Set([viewer.userId, ...(await this.profiles.administeredBy(this.db, viewer.userId, ids))]);
  }
}
