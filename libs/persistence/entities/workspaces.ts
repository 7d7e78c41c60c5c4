import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('workspaces')
export class WorkspaceRow {
  @PrimaryColumn('uuid', { default: () => 'gen_random_uuid()' })
  id!: string;

  @Column('text')
  name!: string;

  @Column('text')
  display_name!: string;

  @Column('boolean', { default: () => 'FALSE' })
  is_personal!: boolean;

  @Column('uuid', { nullable: true })
  created_by!: string | null;

  @Column('boolean', { default: () => 'FALSE' })
  is_deleted!: boolean;

  @Column('timestamptz', { nullable: true })
  deactivated_at!: string | null;

  @Column('uuid', { nullable: true })
  deactivated_by!: string | null;

  @Column('timestamptz', { default: () => 'NOW()' })
  created_at!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  updated_at!: string;
}

@Entity('workspace_members')
export class WorkspaceMemberRow {
  @PrimaryColumn('uuid')
  workspace_id!: string;

  @PrimaryColumn('uuid')
  user_id!: string;

  @Column('boolean', { default: () => 'FALSE' })
  author!: boolean;

  @Column('boolean', { default: () => 'FALSE' })
  promoter!: boolean;

  @Column('boolean', { default: () => 'FALSE' })
  admin!: boolean;

  @Column('timestamptz', { default: () => 'NOW()' })
  joined_at!: string;
}

@Entity('workspace_invitations')
export class WorkspaceInvitationRow {
  @PrimaryColumn('uuid')
  workspace_id!: string;

  @PrimaryColumn('text')
  email!: string;

  @Column('boolean', { default: () => 'FALSE' })
  author!: boolean;

  @Column('boolean', { default: () => 'FALSE' })
  promoter!: boolean;

  @Column('boolean', { default: () => 'FALSE' })
  admin!: boolean;

  @Column('uuid')
  invited_by!: string;

  @Column('timestamptz', { default: () => 'NOW()' })
  invited_at!: string;
}
