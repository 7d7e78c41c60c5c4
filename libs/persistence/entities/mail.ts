import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('mail_sends')
export class MailSendRow {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  user_id!: string;

  @Column('text')
  kind!: 'welcome' | 'password_reset' | 'new_user';

  @Column('uuid')
  act_id!: string;

  @Column('text')
  recipient!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  claimed_at!: string;

  @Column('timestamptz', { nullable: true })
  sent_at!: string | null;

  @Column('text', { nullable: true })
  message_id!: string | null;

  @Column('text', { nullable: true })
  error!: string | null;
}
