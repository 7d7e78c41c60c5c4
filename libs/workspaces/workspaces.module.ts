import { Module } from '@nestjs/common';
import { AuditModule } from '#libs/audit';
import { IdentityModule } from '#libs/identity';
import { AuditReader } from './audit-reader.js';
import { MemberDeparture } from './member-departure.js';
import { MemberRepository } from './member.repository.js';
import { MemberService } from './member.service.js';
import { NamedWorkspaces } from './named-workspaces.js';
import { WorkspaceLifecycle } from './workspace-lifecycle.js';
import { WorkspaceRepository } from './workspace.repository.js';
import { WorkspaceService } from './workspace.service.js';

@Module({
  imports: [AuditModule, IdentityModule],
  providers: [
    AuditReader,
    MemberDeparture,
    MemberRepository,
    MemberService,
    NamedWorkspaces,
    WorkspaceLifecycle,
    WorkspaceRepository,
    WorkspaceService,
  ],
  exports: [AuditReader, MemberService, WorkspaceLifecycle, WorkspaceService],
})
export class WorkspacesModule {}
