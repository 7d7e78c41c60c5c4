import { Field, ID, InputType } from '@nestjs/graphql';
import type { ApiKeyKind, Scope } from '#libs/kernel';
import { DateTime } from '../scalars/text.scalars.js';
import { ApiKeyKindEnum, ScopeEnum } from '../schema/enums.js';

@InputType()
export class CreateApiKeyInput {
  @Field(() => String)
  name!: string;

  @Field(() => ApiKeyKindEnum, { nullable: true, description: 'Default USER.' })
  kind?: ApiKeyKind | null;

  @Field(() => [ScopeEnum], { nullable: true, description: 'Only of user keys.' })
  scopes?: Scope[] | null;

  @Field(() => [String], { nullable: true, description: 'Path prefixes; only of endpoint keys.' })
  bindings?: string[] | null;

  @Field(() => DateTime, { nullable: true })
  expiresAt?: string | null;
}

@InputType()
export class RevokeApiKeyInput {
  @Field(() => ID)
  id!: string;
}

@InputType()
export class RevokeSessionInput {
  @Field(() => ID)
  id!: string;
}

@InputType()
export class UpdatePreferencesInput {
  @Field(() => String, { nullable: true, description: 'dark, light, or null to follow the deployment.' })
  themePreference!: string | null;
}

@InputType()
export class CreateLocalUserInput {
  @Field(() => String)
  email!: string;

  @Field(() => String, { nullable: true, description: 'Default: what stands before the @.' })
  displayName?: string | null;
}

/** Names the person a verb is about. */
@InputType()
export class UserIdInput {
  @Field(() => ID)
  id!: string;
}
