import { toWireStamp } from '#libs/kernel';
import type { InvitationRow, MemberRow } from './member.repository.js';

/** A member in wire form; `email` only where the viewer may see it. */
export interface MemberView {
  user_id: string;
  display_name: string;
  email?: string;
  profile_picture_url: string | null;
  author: boolean;
  promoter: boolean;
  admin: boolean;
  joined_at: string;
}

export interface InvitationView {
  email: string;
  author: boolean;
  promoter: boolean;
  admin: boolean;
  invited_by: string;
  invited_at: string;
}

export function toMemberView(row: MemberRow, withEmail: boolean): MemberView {
  return {
    user_id: row.userId,
    display_name: row.displayName,
    ...(withEmail ? { email: row.email } : {}),
    profile_picture_url: row.profilePictureUrl,
    author: row.author,
    promoter: row.promoter,
    admin: row.admin,
    joined_at: toWireStamp(row.joinedAt),
  };
}

export function toInvitationView(row: InvitationRow): InvitationView {
  return {
    email: row.email,
    author: row.author,
    promoter: row.promoter,
    admin: row.admin,
    invited_by: row.invitedBy,
    invited_at: toWireStamp(row.invitedAt),
  };
}
