import { Field, ID, InputType, ObjectType } from '@nestjs/graphql';
import { InvitationType, MembershipType, WorkspaceType } from './workspace.types.js';

@InputType()
export class CreateWorkspaceInput {
  @Field(() => String)
  name!: string;

  @Field(() => String, { nullable: true })
  displayName?: string | null;
}

@InputType()
export class UpdateWorkspaceInput {
  @Field(() => String)
  name!: string;

  @Field(() => String)
  displayName!: string;
}

/** Names the workspace a verb is about. */
@InputType()
export class WorkspaceNameInput {
  @Field(() => String)
  name!: string;
}

@InputType({ isAbstract: true })
abstract class FlagsInput {
  @Field(() => String, { description: 'Name of the workspace.' })
  workspace!: string;

  @Field(() => Boolean, { nullable: true })
  author?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  promoter?: boolean | null;

  @Field(() => Boolean, { nullable: true })
  admin?: boolean | null;
}

@InputType()
export class AddMemberInput extends FlagsInput {
  @Field(() => String)
  email!: string;
}

@InputType()
export class SetMemberFlagsInput extends FlagsInput {
  @Field(() => ID)
  userId!: string;
}

@InputType()
export class RemoveMemberInput {
  @Field(() => String)
  workspace!: string;

  @Field(() => ID)
  userId!: string;
}

@InputType()
export class RevokeInvitationInput {
  @Field(() => String)
  workspace!: string;

  @Field(() => String)
  email!: string;
}

@ObjectType()
export class WorkspacePayload {
  @Field(() => WorkspaceType)
  workspace!: WorkspaceType;
}

@ObjectType()
export class MemberPayload {
  @Field(() => WorkspaceType)
  workspace!: WorkspaceType;

  @Field(() => MembershipType, { nullable: true, description: 'Null when the person has no account yet.' })
  membership!: MembershipType | null;

  @Field(() => InvitationType, { nullable: true })
  invitation!: InvitationType | null;
}
