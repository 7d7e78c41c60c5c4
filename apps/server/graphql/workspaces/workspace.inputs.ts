import { Field, ID, InputType, ObjectType } from '@nestjs/graphql';
import { InvitationType, MembershipType, WorkspaceType } from './workspace.types.js';

@InputType({ description: 'A room to make for a team.' })
export class CreateWorkspaceInput {
  @Field(() => String, { description: 'Lower-case letters, digits, `_` and `-`, at most 63; it is never changed.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Title for people; default: the name.' })
  displayName?: string | null;
}

@InputType({ description: 'A new title for a workspace.' })
export class UpdateWorkspaceInput {
  @Field(() => String, { description: 'Which workspace is retitled.' })
  name!: string;

  @Field(() => String, { description: 'Title for people.' })
  displayName!: string;
}

/** Names the workspace a verb is about. */
@InputType({ description: 'The workspace a super administrator acts on.' })
export class WorkspaceNameInput {
  @Field(() => String, { description: 'Taken from `Workspace.name`.' })
  name!: string;
}

@InputType({ isAbstract: true })
abstract class FlagsInput {
  @Field(() => String, { description: 'Name of the workspace.' })
  workspace!: string;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the person may write drafts and publish; default: false, or as it was.',
  })
  author?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the person may release, import and promote; default: false, or as it was.',
  })
  promoter?: boolean | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the person may manage the workspace; default: false, or as it was.',
  })
  admin?: boolean | null;
}

@InputType({ description: 'Whom to let in, and with which rights.' })
export class AddMemberInput extends FlagsInput {
  @Field(() => String, { description: 'Address of an account; without one, an invitation waits for it.' })
  email!: string;
}

@InputType({ description: 'The rights a member is to have; what is left out stays.' })
export class SetMemberFlagsInput extends FlagsInput {
  @Field(() => ID, { description: 'The member whose rights change.' })
  userId!: string;
}

@InputType({ description: 'Who has to leave which workspace.' })
export class RemoveMemberInput {
  @Field(() => String, { description: 'Name of the workspace to leave.' })
  workspace!: string;

  @Field(() => ID, { description: 'The member who leaves; what they made stays.' })
  userId!: string;
}

@InputType({ description: 'The invitation to take back.' })
export class RevokeInvitationInput {
  @Field(() => String, { description: 'Name of the workspace it leads to.' })
  workspace!: string;

  @Field(() => String, { description: 'Address it was made for.' })
  email!: string;
}

@ObjectType({ description: 'Answer of a change to a workspace.' })
export class WorkspacePayload {
  @Field(() => WorkspaceType, { description: 'As it is after the change.' })
  workspace!: WorkspaceType;
}

@ObjectType({ description: 'Answer of a change to who belongs.' })
export class MemberPayload {
  @Field(() => WorkspaceType, { description: 'Where the change happened.' })
  workspace!: WorkspaceType;

  @Field(() => MembershipType, {
    nullable: true,
    description: "The member's rights; null when the person has no account yet.",
  })
  membership!: MembershipType | null;

  @Field(() => InvitationType, {
    nullable: true,
    description: "What waits for the person's first sign-in; null for somebody with an account.",
  })
  invitation!: InvitationType | null;
}
