import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('pipelines')
export class PipelineRow {
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

  @Column('uuid')
  owner_id!: string;

  @Column('integer', { nullable: true })
  current_version!: number | null;

  @Column('timestamptz', { default: () => 'NOW()' })
  created_at!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  updated_at!: string;
}

@Entity('pipeline_versions')
export class PipelineVersionRow {
  @PrimaryColumn('uuid')
  pipeline_id!: string;

  @PrimaryColumn('integer')
  version!: number;

  @Column('jsonb')
  body_json!: string;

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
