import { SqlMigration } from './sql-migration.js';

/**
 * Penstock's own additions beside the twenty tables: revocable sessions and password reset tokens (04 §4.4, §4.5),
 * indexes that our queries need, and the privilege that makes the two logs append-only even for their owner (04 §10).
 */
export class SessionsAndAppendOnly0002 extends SqlMigration {
  readonly name = '0002-sessions-and-append-only';

  readonly sql = `
CREATE TABLE user_sessions (
    id             UUID        PRIMARY KEY,
    token_hash     BYTEA       NOT NULL UNIQUE,
    user_id        UUID        NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    amr            TEXT        NOT NULL,
    provider       TEXT        NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    expires_at     TIMESTAMPTZ NOT NULL,
    last_seen_at   TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    source_ip      INET,
    user_agent     TEXT,
    revoked_at     TIMESTAMPTZ,
    revoked_reason TEXT,
    CONSTRAINT chk_user_sessions_amr CHECK (amr IN ('pwd', 'oidc')),
    CONSTRAINT chk_user_sessions_revoked CHECK ((revoked_at IS NULL) = (revoked_reason IS NULL))
);
CREATE INDEX px_user_sessions_live ON user_sessions(user_id) WHERE revoked_at IS NULL;
CREATE INDEX px_user_sessions_expires ON user_sessions(expires_at);

CREATE TABLE password_reset_tokens (
    id           UUID        PRIMARY KEY,
    user_id      UUID        NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    token_hash   BYTEA       NOT NULL UNIQUE,
    created_at   TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    expires_at   TIMESTAMPTZ NOT NULL,
    used_at      TIMESTAMPTZ,
    requested_ip INET
);
CREATE INDEX px_password_reset_tokens_user ON password_reset_tokens(user_id);

CREATE INDEX px_audit_workspace ON audit_log((details_json->>'workspace_id'), timestamp DESC);
CREATE INDEX px_executions_started ON pipeline_executions(started_at DESC, execution_id);

REVOKE UPDATE, TRUNCATE ON audit_log, execution_events FROM CURRENT_USER;
`;
}
