import { Field, ObjectType } from '@nestjs/graphql';
import type { Lazy } from '../engine/lazy.js';
import { ActorType } from '../identity/actor.js';
import { connectionType } from '../paging/connection.js';
import { DateTime } from '../scalars/text.scalars.js';
import { NodeInterface } from '../schema/node.interface.js';

@ObjectType('Workspace', {
  implements: () => [NodeInterface],
  description: "A team's room: pipelines, templates, runs and keys in it are invisible from elsewhere.",
})
export class WorkspaceType extends NodeInterface {
  @Field(() => String, { description: 'Lower-case name, never changed.' })
  name!: string;

  @Field(() => String, { description: 'Title for people.' })
  displayName!: string;

  @Field(() => Boolean, { description: 'Whether it was once made for one person alone; it works like any other.' })
  isPersonal!: boolean;

  @Field(() => Boolean, { description: 'Whether anything can be done in it; a deactivated one keeps its content.' })
  isActive!: boolean;

  @Field(() => DateTime, { nullable: true, description: 'When it was closed; null while it is active.' })
  deactivatedAt!: string | null;

  @Field(() => ActorType, { nullable: true, description: 'Who closed it; null while it is active.' })
  deactivatedBy!: Lazy<ActorType | null>;

  @Field(() => ActorType, {
    nullable: true,
    description: 'Who made it; null for one that the deployment made by itself.',
  })
  createdBy!: Lazy<ActorType | null>;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: string;

  @Field(() => DateTime, { description: 'When its settings last changed.' })
  updatedAt!: string;
}

@ObjectType('Membership', { description: "A person's place in a workspace; without any flag, to read and to run." })
export class MembershipType {
  @Field(() => WorkspaceType, { description: 'Where the rights hold.' })
  workspace!: WorkspaceType | Lazy<WorkspaceType | undefined>;

  @Field(() => ActorType, { description: 'Whose rights they are.' })
  user!: ActorType | Lazy<ActorType>;

  @Field(() => Boolean, { description: 'Whether the person may write drafts and publish.' })
  author!: boolean;

  @Field(() => Boolean, { description: 'Whether the person may release, import and promote.' })
  promoter!: boolean;

  @Field(() => Boolean, {
    description: 'Whether the person may manage members and datasources, and all that authors and promoters may.',
  })
  admin!: boolean;

  @Field(() => DateTime, { description: 'When the person became a member.' })
  joinedAt!: string;
}

@ObjectType('Invitation', { description: 'A place kept for somebody who has no account yet.' })
export class InvitationType {
  @Field(() => String, { description: 'Address whose first sign-in takes the place.' })
  email!: string;

  @Field(() => Boolean, { description: 'Whether the person will be allowed to write drafts.' })
  author!: boolean;

  @Field(() => Boolean, { description: 'Whether the person will be allowed to release and promote.' })
  promoter!: boolean;

  @Field(() => Boolean, { description: 'Whether the person will be allowed to manage the workspace.' })
  admin!: boolean;

  @Field(() => ActorType, { description: 'Who asked the person in.' })
  invitedBy!: Lazy<ActorType>;

  @Field(() => DateTime, { description: 'When the invitation was made.' })
  invitedAt!: string;
}

export const WorkspaceConnection = connectionType('Workspace', () => WorkspaceType);
export const MembershipConnection = connectionType('Membership', () => MembershipType);
export const InvitationConnection = connectionType('Invitation', () => InvitationType);
