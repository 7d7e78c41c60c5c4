import { z } from 'zod';
import type { WorkspaceView } from '#libs/workspaces';
import { moment, named, uuid } from './envelope.js';
import { memberFlags } from './identity.js';

export const workspaceView = named<WorkspaceView>(
  'Workspace',
  z.object({
    id: uuid,
    name: z.string(),
    display_name: z.string(),
    is_personal: z.boolean(),
    is_active: z.boolean(),
    flags: memberFlags.optional(),
    created_by: uuid.nullable(),
    created_at: moment,
    updated_at: moment,
    deactivated_at: moment.nullable(),
    deactivated_by: uuid.nullable(),
  }),
);

const flagMembers = { author: z.boolean(), promoter: z.boolean(), admin: z.boolean() };
export const member = z
  .object({
    user_id: uuid,
    display_name: z.string(),
    email: z.string().optional(),
    profile_picture_url: z.string().nullable(),
    ...flagMembers,
    joined_at: moment,
  })
  .meta({ id: 'Member' });
const invitation = z
  .object({ email: z.string(), ...flagMembers, invited_by: uuid, invited_at: moment })
  .meta({ id: 'Invitation' });
export const memberList = z.object({ members: z.array(member), invitations: z.array(invitation) });
export const invited = z.object({ invited: z.literal(true), email: z.string(), flags: z.object(flagMembers) });
