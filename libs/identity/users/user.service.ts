import { Injectable } from '@nestjs/common';
import { isUuid, PenstockError, type MemberFlags, type Principal, type Scope } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { authoriseSelf } from '../authorise.js';
import { toAccountView, type AccountView } from './account-view.js';
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
    return toAccountView(row, principal);
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
