import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('templates')
export class TemplateRow {
  @PrimaryColumn('uuid', { default: () => 'gen_random_uuid()' })
  id!: string;

  @Column('uuid')
  workspace_id!: string;

  @Column('text')
  name!: string;

  @Column('text')
  display_name!: string;

  @Column('text', { default: () => "''" })
  description!: string;

  @Column('integer', { nullable: true })
  current_version!: number | null;

  @Column('timestamptz', { default: () => 'NOW()' })
  created_at!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  updated_at!: string;

  @Column('uuid')
  created_by!: string;
}

@Entity('template_versions')
export class TemplateVersionRow {
  @PrimaryColumn('uuid')
  template_id!: string;

  @PrimaryColumn('integer')
  version!: number;

  @Column('text', { default: () => "'freemarker'" })
  engine!: string;

  @Column('text')
  dialect!: 'POSTGRES' | 'ORACLE' | 'MSSQL' | 'MYSQL' | 'H2' | 'DUCKDB' | 'SQLITE' | 'LAKE';

  @Column('boolean', { default: () => 'FALSE' })
  is_library!: boolean;

  @Column('jsonb', { default: () => "'[]'" })
  imports_json!: string;

  @Column('text')
  body!: string;

  @Column('text', { default: () => "'RELEASED'" })
  status!: 'DRAFT' | 'RELEASED' | 'DISCARDED';

  @Column('text')
  body_hash!: string;

  @Column('timestamptz', { nullable: true })
  released_at!: string | null;

  @Column('uuid', { nullable: true })
  released_by!: string | null;

  @Column('timestamptz', { nullable: true })
  discarded_at!: string | null;

  @Column('uuid', { nullable: true })
  discarded_by!: string | null;

  @Column('uuid', { nullable: true })
  updated_by!: string | null;

  @Column('timestamptz', { nullable: true })
  updated_at!: string | null;

  @Column('text', { default: () => "'session'" })
  created_via!: 'session' | 'api_key' | 'mcp';

  @Column('text', { default: () => "'session'" })
  updated_via!: 'session' | 'api_key' | 'mcp';

  @Column('timestamptz', { default: () => 'NOW()' })
  created_at!: string;

  @Column('uuid')
  created_by!: string;
}
