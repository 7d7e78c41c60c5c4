import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

@Entity('pipeline_executions')
export class PipelineExecutionRow {
  @PrimaryColumn('uuid', { default: () => 'gen_random_uuid()' })
  execution_id!: string;

  @Column('uuid')
  pipeline_id!: string;

  @Column('integer')
  pipeline_version!: number;

  @Column('text')
  status!: 'RUNNING' | 'SUCCESS' | 'FAILED' | 'ABORTED';

  @Column('jsonb', { default: () => "'{}'" })
  parameters_json!: string;

  @Column('uuid')
  triggered_by!: string;

  @Column('text')
  triggered_via!: 'UI' | 'REST' | 'MCP' | 'PIPELINE' | 'ENDPOINT';

  @Column('uuid', { nullable: true })
  correlation_id!: string | null;

  @Column('timestamptz', { default: () => 'NOW()' })
  started_at!: string;

  @Column('timestamptz', { nullable: true })
  completed_at!: string | null;

  @Column('bigint', { nullable: true })
  duration_ms!: string | null;

  @Column('text', { nullable: true })
  failed_node_id!: string | null;

  @Column('jsonb', { nullable: true })
  error_json!: string | null;

  @Column('jsonb', { nullable: true })
  node_stats_json!: string | null;

  @Column('bigint', { nullable: true })
  result_row_count!: string | null;

  @Column('bigint', { nullable: true })
  result_size_bytes!: string | null;

  @Column('uuid', { nullable: true })
  parent_execution_id!: string | null;

  @Column('text', { nullable: true })
  parent_node_id!: string | null;

  @Column('uuid')
  root_execution_id!: string;

  @Column('timestamptz', { nullable: true })
  heartbeat_at!: string | null;
}

@Entity('execution_events')
export class ExecutionEventRow {
  @PrimaryGeneratedColumn('increment', { type: 'bigint' })
  id!: string;

  @Column('uuid')
  execution_id!: string;

  @Column('integer')
  event_id!: number;

  @Column('text')
  event_type!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  timestamp!: string;

  @Column('jsonb')
  payload_json!: string;
}
