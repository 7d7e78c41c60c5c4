import { toWireStamp, type MemberFlags } from '#libs/kernel';
import type { HeldWorkspaceRow, WorkspaceRow } from './workspace.repository.js';

/** A workspace in wire form. `flags` are those the caller holds in it, absent where he is no member. */
export interface WorkspaceView {
  id: string;
  name: string;
  display_name: string;
  is_personal: boolean;
  is_active: boolean;
  flags?: MemberFlags;
  created_by: string | null;
  created_at: string;
  updated_at: string;
  deactivated_at: string | null;
  deactivated_by: string | null;
}

export function toView(row: WorkspaceRow, flags?: MemberFlags): WorkspaceView {
  return {
    id: row.id,
    name: row.name,
    display_name: row.displayName,
    is_personal: row.isPersonal,
    is_active: row.deactivatedAt === null,
    ...(flags ? { flags } : {}),
    created_by: row.createdBy,
    created_at: toWireStamp(row.createdAt),
    updated_at: toWireStamp(row.updatedAt),
    deactivated_at: row.deactivatedAt === null ? null : toWireStamp(row.deactivatedAt),
    deactivated_by: row.deactivatedBy,
  };
}

export function toHeldView(row: HeldWorkspaceRow): WorkspaceView {
  const { author, promoter, admin } = row;
  const held = author !== null && promoter !== null && admin !== null;
  return toView(row, held ? { author, promoter, admin } : undefined);
}
