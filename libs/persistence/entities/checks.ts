import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('pipeline_check_runs')
export class PipelineCheckRunRow {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  pipeline_id!: string;

  @Column('integer')
  version!: number;

  @Column('text')
  check_id!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  ran_at!: string;

  @Column('uuid', { nullable: true })
  ran_by!: string | null;

  @Column('text')
  via!: 'mcp' | 'rest' | 'ui' | 'release';

  @Column('jsonb', { default: () => "'{}'" })
  parameters_json!: string;

  @Column('jsonb', { nullable: true })
  observed_json!: string | null;

  @Column('text')
  verdict!: 'pass' | 'fail' | 'error';

  @Column('text', { nullable: true })
  message!: string | null;

  @Column('text', { nullable: true })
  correlation_id!: string | null;

  @Column('bigint', { nullable: true })
  duration_ms!: string | null;
}
