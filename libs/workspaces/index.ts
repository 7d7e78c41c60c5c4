export { AuditReader, type AuditEventView, type AuditQuery } from './audit-reader.js';
export { ensureDemoWorkspace } from './demo-workspace.js';
export { MemberService, type AddedMember, type MemberBody } from './member.service.js';
export type { InvitationView, MemberView } from './member-view.js';
export { WorkspaceLifecycle } from './workspace-lifecycle.js';
export { WorkspaceService } from './workspace.service.js';
export type { WorkspaceView } from './workspace-view.js';
export { WorkspacesModule } from './workspaces.module.js';
