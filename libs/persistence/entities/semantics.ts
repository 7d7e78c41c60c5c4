import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('learned_facts')
export class LearnedFactRow {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  scope!: 'DATASOURCE' | 'WORKSPACE';

  @Column('uuid', { nullable: true })
  workspace_id!: string | null;

  @Column('text')
  datasource_name!: string;

  @Column('text')
  kind!:
    | 'unit'
    | 'time_zone'
    | 'sampling'
    | 'grain'
    | 'window'
    | 'enum_meaning'
    | 'join'
    | 'caveat'
    | 'format'
    | 'definition'
    | 'exclusion'
    | 'preference';

  @Column('text')
  fact!: string;

  @Column('jsonb')
  refs_json!: string;

  @Column('text', { nullable: true })
  evidence_sql!: string | null;

  @Column('text', { nullable: true })
  evidence_summary!: string | null;

  @Column('text')
  trust!: 'asserted' | 'observed' | 'verified' | 'needs_review' | 'stale' | 'retired';

  @Column('text')
  schema_fingerprint!: string;

  @Column('uuid')
  recorded_by!: string;

  @Column('text')
  recorded_via!: 'session' | 'api_key' | 'mcp';

  @Column('uuid')
  recorded_in!: string;

  @Column('uuid', { nullable: true })
  source_pipeline_id!: string | null;

  @Column('integer', { nullable: true })
  source_version!: number | null;

  @Column('timestamptz', { default: () => 'NOW()' })
  recorded_at!: string;

  @Column('uuid', { nullable: true })
  verified_by!: string | null;

  @Column('timestamptz', { nullable: true })
  verified_at!: string | null;

  @Column('uuid', { nullable: true })
  supersedes!: string | null;

  @Column('timestamptz', { nullable: true })
  retired_at!: string | null;

  @Column('text', { nullable: true })
  retired_reason!: string | null;
}
