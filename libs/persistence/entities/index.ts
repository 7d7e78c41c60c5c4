import { UserRow, ApiKeyRow, UserSessionRow, PasswordResetTokenRow, BootstrapAdminRow } from './identity.js';
import { WorkspaceRow, WorkspaceMemberRow, WorkspaceInvitationRow } from './workspaces.js';
import { AuditLogRow } from './audit.js';
import { MailSendRow } from './mail.js';
import { PipelineRow, PipelineVersionRow } from './pipelines.js';
import { PipelineCheckRunRow } from './checks.js';
import { TemplateRow, TemplateVersionRow } from './templates.js';
import { PipelineExecutionRow, ExecutionEventRow } from './executions.js';
import { DatasourceRow, DatasourceWorkspaceRow } from './datasources.js';
import { LakeTableRow } from './lake.js';
import { LearnedFactRow } from './semantics.js';
import { PublishedEndpointRow, EndpointKeyBindingRow } from './endpoints.js';

/** Every table of the metadata database: a property per column, typed as `Queryable` returns it. */
export const entities = [
  UserRow,
  ApiKeyRow,
  UserSessionRow,
  PasswordResetTokenRow,
  BootstrapAdminRow,
  WorkspaceRow,
  WorkspaceMemberRow,
  WorkspaceInvitationRow,
  AuditLogRow,
  MailSendRow,
  PipelineRow,
  PipelineVersionRow,
  PipelineCheckRunRow,
  TemplateRow,
  TemplateVersionRow,
  PipelineExecutionRow,
  ExecutionEventRow,
  DatasourceRow,
  DatasourceWorkspaceRow,
  LakeTableRow,
  LearnedFactRow,
  PublishedEndpointRow,
  EndpointKeyBindingRow,
] as const;
