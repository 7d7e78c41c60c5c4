import { Field, ObjectType } from '@nestjs/graphql';
import type { Lazy } from '../engine/lazy.js';
import { ActorType } from '../identity/actor.js';
import { connectionType } from '../paging/connection.js';
import { DateTime } from '../scalars/text.scalars.js';
import { NodeInterface } from '../schema/node.interface.js';

@ObjectType('Workspace', { implements: () => [NodeInterface] })
export class WorkspaceType extends NodeInterface {
  @Field(() => String)
  name!: string;

  @Field(() => String)
  displayName!: string;

  @Field(() => Boolean)
  isPersonal!: boolean;

  @Field(() => Boolean)
  isActive!: boolean;

  @Field(() => DateTime, { nullable: true })
  deactivatedAt!: string | null;

  @Field(() => ActorType, { nullable: true })
  deactivatedBy!: Lazy<ActorType | null>;

  @Field(() => ActorType, { nullable: true })
  createdBy!: Lazy<ActorType | null>;

  @Field(() => DateTime)
  createdAt!: string;

  @Field(() => DateTime)
  updatedAt!: string;
}

@ObjectType('Membership')
export class MembershipType {
  @Field(() => WorkspaceType)
  workspace!: WorkspaceType | Lazy<WorkspaceType | undefined>;

  @Field(() => ActorType)
  user!: ActorType | Lazy<ActorType>;

  @Field(() => Boolean)
  author!: boolean;

  @Field(() => Boolean)
  promoter!: boolean;

  @Field(() => Boolean)
  admin!: boolean;

  @Field(() => DateTime)
  joinedAt!: string;
}

@ObjectType('Invitation')
export class InvitationType {
  @Field(() => String)
  email!: string;

  @Field(() => Boolean)
  author!: boolean;

  @Field(() => Boolean)
  promoter!: boolean;

  @Field(() => Boolean)
  admin!: boolean;

  @Field(() => ActorType)
  invitedBy!: Lazy<ActorType>;

  @Field(() => DateTime)
  invitedAt!: string;
}

export const WorkspaceConnection = connectionType('Workspace', () => WorkspaceType);
export const MembershipConnection = connectionType('Membership', () => MembershipType);
export const InvitationConnection = connectionType('Invitation', () => InvitationType);
