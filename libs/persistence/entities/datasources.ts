import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('datasources')
export class DatasourceRow {
  @PrimaryColumn('text')
  name!: string;

  @Column('text')
  display_name!: string;

  @Column('text', { nullable: true })
  description!: string | null;

  @Column('text')
  dialect!: 'POSTGRES' | 'ORACLE' | 'MSSQL' | 'MYSQL' | 'H2' | 'DUCKDB' | 'SQLITE' | 'LAKE';

  @Column('text')
  jdbc_url!: string;

  @Column('text', { nullable: true })
  username!: string | null;

  @Column('text', { default: () => "'password'" })
  credential_kind!: 'password' | 'token' | 'private_key' | 'service_account_json' | 'none';

  @Column('bytea', { nullable: true })
  credential_encrypted!: Buffer | null;

  @Column('jsonb', { default: () => "'{}'" })
  properties_json!: string;

  @Column('integer', { nullable: true })
  query_timeout_seconds!: number | null;

  @Column('jsonb', { default: () => "'[]'" })
  introspection_include_schemas_json!: string;

  @Column('uuid', { nullable: true })
  owner_workspace_id!: string | null;

  @Column('boolean', { default: () => 'FALSE' })
  is_readonly!: boolean;

  @Column('timestamptz', { nullable: true })
  last_test_at!: string | null;

  @Column('boolean', { nullable: true })
  last_test_ok!: boolean | null;

  @Column('text', { nullable: true })
  last_test_message!: string | null;

  @Column('boolean', { default: () => 'FALSE' })
  is_deleted!: boolean;

  @Column('timestamptz', { default: () => 'NOW()' })
  created_at!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  updated_at!: string;

  @Column('uuid')
  created_by!: string;
}

@Entity('datasource_workspaces')
export class DatasourceWorkspaceRow {
  @PrimaryColumn('text')
  datasource_name!: string;

  @PrimaryColumn('uuid')
  workspace_id!: string;

  @Column('uuid')
  granted_by!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  granted_at!: string;
}
