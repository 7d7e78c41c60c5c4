import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('published_endpoints')
export class PublishedEndpointRow {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  workspace_id!: string;

  @Column('text')
  path_pattern!: string;

  @Column('uuid')
  pipeline_id!: string;

  @Column('integer')
  timeout_seconds!: number;

  @Column('text', { default: () => "''" })
  description!: string;

  @Column('boolean', { default: () => 'TRUE' })
  is_enabled!: boolean;

  @Column('uuid')
  created_by!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  created_at!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  updated_at!: string;
}

@Entity('endpoint_key_bindings')
export class EndpointKeyBindingRow {
  @PrimaryColumn('text')
  path_prefix!: string;

  @PrimaryColumn('text')
  api_key_id!: string;

  @Column('uuid')
  workspace_id!: string;

  @Column('uuid')
  created_by!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  created_at!: string;
}
