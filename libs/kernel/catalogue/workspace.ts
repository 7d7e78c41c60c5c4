import type { CatalogueEntry } from './entry.js';

/** Workspaces, members, invitations (contracts 04 §7, §13). */
export const workspaceCodes = {
  'workspace.not_found': {
    status: 404,
    title: 'There is no such workspace that you can see.',
    fix: 'Check the name, or ask one of its administrators to add you.',
  },
  'workspace.inactive': {
    status: 404,
    title: 'The workspace is deactivated.',
    fix: 'Ask a super administrator to reactivate it.',
  },
  'workspace.invitation.not_found': {
    status: 404,
    title: 'There is no such open invitation.',
    fix: 'It may have been accepted or revoked; read the list of invitations again.',
  },
  'workspace.membership_required': {
    status: 403,
    title: 'You belong to no workspace yet.',
    fix: 'Ask a workspace administrator to add you.',
  },
  'workspace.session_required': {
    status: 403,
    title: 'This workspace operation needs a signed-in person.',
    fix: 'Sign in to the console and do it there.',
  },
  'workspace.header_forbidden': {
    status: 400,
    title: 'An API key always acts in its own workspace.',
    fix: 'Leave the "DP-Workspace" header out, or use a key of the wanted workspace.',
  },
  'workspace.validation.name_invalid': {
    status: 400,
    title: 'The workspace name breaks the naming rules.',
    fix: 'Use lower-case letters, digits, "_" and "-", 63 characters at most.',
  },
  'workspace.validation.duplicate_name': {
    status: 409,
    title: 'Another workspace already has this name.',
    fix: 'Choose another name.',
  },
  'workspace.last_admin': {
    status: 409,
    title: 'This is the last administrator of the workspace.',
    fix: 'Make another member administrator first.',
  },
  'workspace.in_use': {
    status: 409,
    title: 'The workspace still holds content or runs.',
    fix: 'Remove what the details list first, or deactivate the workspace instead.',
  },
} satisfies Record<string, CatalogueEntry>;
