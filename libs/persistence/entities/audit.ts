import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity('audit_log')
export class AuditLogRow {
  @PrimaryGeneratedColumn('increment', { type: 'bigint' })
  id!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  timestamp!: string;

  @Column('text')
  event!: string;

  @Column('uuid', { nullable: true })
  user_id!: string | null;

  @Column('text', { nullable: true })
  key_id!: string | null;

  @Column('inet', { nullable: true })
  source_ip!: string | null;

  @Column('text', { nullable: true })
  user_agent!: string | null;

  @Column('jsonb', { default: () => "'{}'" })
  details_json!: string;
}
