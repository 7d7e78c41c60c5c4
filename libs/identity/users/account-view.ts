import { toWireStamp } from '#libs/kernel';
import type { AccountRow } from './profile.repository.js';

/** An account in wire form; sign-in counters are null for others than super admins (contract 04 §8). */
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

export function toAccountView(row: AccountRow, viewer: { superAdmin: boolean }): AccountView {
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
    failed_login_count: viewer.superAdmin ? row.failedLoginCount : null,
    locked_until: viewer.superAdmin ? stamp(row.lockedUntil) : null,
    created_at: toWireStamp(row.createdAt),
    updated_at: toWireStamp(row.updatedAt),
    last_login_at: stamp(row.lastLoginAt),
  };
}

function stamp(text: string | null): string | null {
  return text === null ? null : toWireStamp(text);
}
