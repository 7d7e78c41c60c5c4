import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('users')
export class UserRow {
  @PrimaryColumn('uuid', { default: () => 'gen_random_uuid()' })
  id!: string;

  @Column('text')
  email!: string;

  @Column('text')
  display_name!: string;

  @Column('text', { nullable: true })
  profile_picture_url!: string | null;

  @Column('text')
  provider!: string;

  @Column('text')
  provider_subject!: string;

  @Column('boolean', { default: () => 'TRUE' })
  is_active!: boolean;

  @Column('boolean', { default: () => 'FALSE' })
  is_admin!: boolean;

  @Column('text', { nullable: true })
  theme_preference!: string | null;

  @Column('text', { nullable: true })
  password_hash!: string | null;

  @Column('timestamptz', { nullable: true })
  password_changed_at!: string | null;

  @Column('boolean', { default: () => 'FALSE' })
  must_change_password!: boolean;

  @Column('integer', { default: () => '0' })
  failed_login_count!: number;

  @Column('timestamptz', { nullable: true })
  locked_until!: string | null;

  @Column('timestamptz', { default: () => 'NOW()' })
  created_at!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  updated_at!: string;

  @Column('timestamptz', { nullable: true })
  last_login_at!: string | null;
}

@Entity('api_keys')
export class ApiKeyRow {
  @PrimaryColumn('text')
  id!: string;

  @Column('uuid')
  user_id!: string;

  @Column('uuid')
  workspace_id!: string;

  @Column('text')
  name!: string;

  @Column('text')
  key_hash!: string;

  @Column('text', { array: true, default: () => "'{read}'" })
  scopes!: string[];

  @Column('boolean', { default: () => 'FALSE' })
  is_revoked!: boolean;

  @Column('timestamptz', { default: () => 'NOW()' })
  created_at!: string;

  @Column('timestamptz', { nullable: true })
  last_used_at!: string | null;

  @Column('timestamptz', { nullable: true })
  expires_at!: string | null;

  @Column('inet', { nullable: true })
  last_used_ip!: string | null;

  @Column('text', { nullable: true })
  last_used_user_agent!: string | null;

  @Column('text', { default: () => "'user'" })
  kind!: 'user' | 'endpoint' | 'server';
}

@Entity('user_sessions')
export class UserSessionRow {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('bytea')
  token_hash!: Buffer;

  @Column('uuid')
  user_id!: string;

  @Column('text')
  amr!: 'pwd' | 'oidc';

  @Column('text')
  provider!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  created_at!: string;

  @Column('timestamptz')
  expires_at!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  last_seen_at!: string;

  @Column('inet', { nullable: true })
  source_ip!: string | null;

  @Column('text', { nullable: true })
  user_agent!: string | null;

  @Column('timestamptz', { nullable: true })
  revoked_at!: string | null;

  @Column('text', { nullable: true })
  revoked_reason!: string | null;
}

@Entity('password_reset_tokens')
export class PasswordResetTokenRow {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  user_id!: string;

  @Column('bytea')
  token_hash!: Buffer;

  @Column('timestamptz', { default: () => 'NOW()' })
  created_at!: string;

  @Column('timestamptz')
  expires_at!: string;

  @Column('timestamptz', { nullable: true })
  used_at!: string | null;

  @Column('inet', { nullable: true })
  requested_ip!: string | null;
}

@Entity('bootstrap_admin')
export class BootstrapAdminRow {
  @PrimaryColumn('boolean', { default: () => 'TRUE' })
  only_row!: boolean;

  @Column('uuid')
  user_id!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  granted_at!: string;
}
