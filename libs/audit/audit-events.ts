/**
 * The audit vocabulary (contract 04 §10): each event and the detail keys it may carry, besides the common ones that
 * {@link AuditLog} adds itself. A name or key outside this table is refused.
 */
const versionKeys = ['id', 'name', 'version', 'from', 'to', 'via', 'executions'] as const;
const releaseKeys = [
  ...versionKeys,
  'templates_released',
  'checks_overridden',
  'override_reason',
  'cascade_from_pipeline_id',
  'cascade_from_version',
] as const;
const targetKeys = ['actor', 'target_user_id'] as const;
const invitationKeys = ['email', 'flags', 'inviter'] as const;
const datasourceActKeys = ['datasource', 'fields'] as const;
const grantKeys = ['datasource', 'workspace', 'already_granted', 'had_grant'] as const;
const poolKeys = ['datasource', 'ok', 'key_version'] as const;
const factKeys = ['fact_id', 'kind', 'scope', 'datasource', 'refs', 'trust', 'via', 'reason'] as const;
const toolKeys = ['tool', 'target', 'outcome', 'elapsed_ms', 'code', 'sql_sha256', 'sql_length'] as const;
const mailKeys = ['kind', 'to', 'act_id', 'message_id', 'error'] as const;
const none = [] as const;

export const AUDIT_EVENTS = {
  'auth.login.success': ['email', 'provider', 'amr', 'session_id'],
  'auth.login.domain_not_allowed': ['email', 'provider'],
  'auth.login.user_inactive': ['email', 'provider'],
  'auth.login.oidc_error': ['provider', 'reason'],
  'auth.login.bad_credentials': ['email', 'reason'],
  'auth.login.locked': ['email', 'locked_until'],
  'auth.login.identity_mismatch': ['email', 'stored_provider', 'incoming_provider'],
  'auth.login.email_verified_assumed': ['provider'],
  'auth.logout': ['session_id'],
  'auth.session.revoked': ['session_id', 'reason', 'actor'],

  'auth.password.seeded': none,
  'auth.password.changed': none,
  'auth.password.change_locked': none,
  'auth.password.change_failed': ['reason'],
  'auth.password.reset': targetKeys,
  'auth.password.disabled': targetKeys,
  'auth.password.reset_requested': ['token_id'],
  'auth.password.reset_completed': ['token_id'],

  'auth.user.created': [...targetKeys, 'email', 'method'],
  'auth.user.unlocked': targetKeys,
  'auth.user.activated': targetKeys,
  'auth.user.deactivated': targetKeys,
  'auth.user.admin_granted': targetKeys,
  'auth.user.admin_revoked': targetKeys,
  'auth.user.identity_linked': ['from', 'to'],
  'auth.user.identity_reset': ['from', 'to'],
  'auth.user.email_changed': ['from', 'to'],
  'auth.user.erased': ['mode'],

  'auth.api_key.created': ['name', 'kind', 'scopes', 'bindings', 'expires_at'],
  'auth.api_key.revoked': ['owner_id', 'actor', 'reason'],
  'auth.api_key.used': ['path'],
  'auth.api_key.rejected': ['reason', 'suppressed'],
  'auth.scope.denied': ['operation', 'axis', 'required', 'held'],
  'auth.csrf.rejected': ['path', 'reason'],
  'auth.super_admin_acting': ['operation', 'path', 'method'],

  'auth.workspace.created': ['name', 'actor'],
  'auth.workspace.updated': ['from', 'to'],
  'auth.workspace.deleted': ['name', 'actor'],
  'auth.workspace.stranded_content': ['counts'],
  'auth.workspace.header_rejected': ['requested'],
  'workspace.deactivated': ['actor'],
  'workspace.reactivated': ['actor'],
  'workspace.member_added': ['target_user_id', 'flags', 'reason'],
  'workspace.member_removed': ['target_user_id', 'flags', 'reason'],
  'workspace.member_flags_changed': ['target_user_id', 'from', 'to'],
  'workspace.member_invited': invitationKeys,
  'workspace.invitation_revoked': invitationKeys,
  'workspace.invitation_materialised': invitationKeys,

  'datasource.created': datasourceActKeys,
  'datasource.updated': datasourceActKeys,
  'datasource.deleted': datasourceActKeys,
  'datasource.granted': grantKeys,
  'datasource.revoked': grantKeys,
  'datasource.pool_build': [...poolKeys, 'execution_id', 'node_id'],
  'datasource.pool_rebuild': poolKeys,
  'datasource.connection_test': poolKeys,
  'datasource.key_rotation': poolKeys,
  'datasource.probed': ['datasource', 'tool', 'outcome', 'code', 'elapsed_ms', 'sql_sha256', 'sql_length'],

  'endpoint.published': ['endpoint_id', 'path'],
  'endpoint.unpublished': ['endpoint_id', 'path'],
  'endpoint.key_bound': ['api_key_id', 'path_prefix'],
  'endpoint.key_unbound': ['api_key_id', 'path_prefix'],
  'endpoint.served': ['endpoint_id', 'execution_id', 'outcome'],

  'auth.promotion.accepted': ['source_env', 'key_fingerprint', 'counts'],
  'auth.promotion.rejected': ['path', 'reason', 'source_env', 'key_fingerprint'],

  'mcp.tool.called': toolKeys,
  'mcp.tool.write': toolKeys,
  'mcp.resource.read': toolKeys,
  'mcp.execution.launched': ['pipeline_id', 'execution_id'],

  'pipeline.version.released': releaseKeys,
  'pipeline.version.discarded': versionKeys,
  'pipeline.version.restored': versionKeys,
  'pipeline.version.purged': versionKeys,
  'pipeline.purged': versionKeys,
  'pipeline.current_switched': versionKeys,
  'template.version.released': releaseKeys,
  'template.version.discarded': versionKeys,
  'template.version.restored': versionKeys,
  'template.version.purged': versionKeys,
  'template.purged': versionKeys,
  'template.current_switched': versionKeys,

  'semantics.recorded': factKeys,
  'semantics.retired': factKeys,
  'semantics.verified': factKeys,
  'mail.sent': mailKeys,
  'mail.failed': mailKeys,
} as const satisfies Record<string, readonly string[]>;

export type AuditEventName = keyof typeof AUDIT_EVENTS;

/** Details of one event: only its own keys, each optional. */
export type AuditDetails<E extends AuditEventName> = Partial<Record<(typeof AUDIT_EVENTS)[E][number], unknown>>;
