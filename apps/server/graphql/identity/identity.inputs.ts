import { Field, ID, InputType } from '@nestjs/graphql';
import type { ApiKeyKind, Scope } from '#libs/kernel';
import { DateTime } from '../scalars/text.scalars.js';
import { ApiKeyKindEnum, ScopeEnum } from '../schema/enums.js';

@InputType({ description: 'A key to make in the active workspace.' })
export class CreateApiKeyInput {
  @Field(() => String, { description: 'What you will know it by, 1 to 100 characters.' })
  name!: string;

  @Field(() => ApiKeyKindEnum, { nullable: true, description: 'What it is to be used for; default USER.' })
  kind?: ApiKeyKind | null;

  @Field(() => [ScopeEnum], {
    nullable: true,
    description: 'What a user key may do, never more than you may; default: that of the deployment.',
  })
  scopes?: Scope[] | null;

  @Field(() => [String], {
    nullable: true,
    description: 'Path prefixes that an endpoint key may call; left out for the other kinds.',
  })
  bindings?: string[] | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'From when on it is refused, a moment in the future; default: that of the deployment.',
  })
  expiresAt?: string | null;
}

@InputType({ description: 'The key to call back, for good.' })
export class RevokeApiKeyInput {
  @Field(() => ID, { description: "One's own key, or any of the workspace for its administrators." })
  id!: string;
}

@InputType({ description: 'The session to end.' })
export class RevokeSessionInput {
  @Field(() => ID, { description: "One of the viewer's own sessions." })
  id!: string;
}

@InputType({ description: 'How the console looks to the viewer.' })
export class UpdatePreferencesInput {
  @Field(() => String, { nullable: true, description: 'dark, light, or null to follow the deployment.' })
  themePreference!: string | null;
}

@InputType({ description: 'An account with a local password.' })
export class CreateLocalUserInput {
  @Field(() => String, { description: 'Address for sign-in; no account has it yet.' })
  email!: string;

  @Field(() => String, { nullable: true, description: 'Default: what stands before the @.' })
  displayName?: string | null;
}

/** Names the person a verb is about. */
@InputType({ description: 'The account a super administrator acts on.' })
export class UserIdInput {
  @Field(() => ID, { description: 'Taken from `User.id` or `Actor.id`.' })
  id!: string;
}
