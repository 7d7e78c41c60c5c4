import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('lake_tables')
export class LakeTableRow {
  @PrimaryColumn('uuid', { default: () => 'gen_random_uuid()' })
  id!: string;

  @Column('text')
  datasource_id!: string;

  @Column('text', { array: true })
  namespace!: string[];

  @Column('text')
  name!: string;

  @Column('text')
  format!: 'parquet' | 'iceberg';

  @Column('text')
  location!: string;

  @Column('text', { nullable: true })
  partition_column!: string | null;

  @Column('uuid')
  registered_by!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  registered_at!: string;

  @Column('text', { nullable: true })
  last_error!: string | null;

  @Column('timestamptz', { nullable: true })
  last_error_at!: string | null;
}
