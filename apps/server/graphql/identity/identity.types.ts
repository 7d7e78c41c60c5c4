import { Field, Int, ObjectType } from '@nestjs/graphql';
import type { MailSendView } from '#libs/identity';
import type { ApiKeyKind, Scope } from '#libs/kernel';
import type { Lazy } from '../engine/lazy.js';
import { connectionType } from '../paging/connection.js';
import { DateTime } from '../scalars/text.scalars.js';
import { ApiKeyKindEnum, CapabilityEnum, MailKindEnum, MailStatusEnum, ScopeEnum } from '../schema/enums.js';
import { NodeInterface } from '../schema/node.interface.js';
import { MembershipType, WorkspaceType } from '../workspaces/workspace.types.js';
import { ActorType } from './actor.js';

@ObjectType('ApiKey', { implements: () => [NodeInterface] })
export class ApiKeyType extends NodeInterface {
  @Field(() => String)
  name!: string;

  @Field(() => ApiKeyKindEnum)
  kind!: ApiKeyKind;

  @Field(() => [ScopeEnum])
  scopes!: Scope[];

  @Field(() => ActorType)
  owner!: Lazy<ActorType>;

  @Field(() => WorkspaceType)
  workspace!: Lazy<WorkspaceType | undefined>;

  @Field(() => Boolean)
  isRevoked!: boolean;

  @Field(() => DateTime)
  createdAt!: string;

  @Field(() => DateTime, { nullable: true })
  expiresAt!: string | null;

  @Field(() => DateTime, { nullable: true })
  lastUsedAt!: string | null;

  @Field(() => String, { nullable: true })
  lastUsedIp!: string | null;

  @Field(() => String, { nullable: true })
  lastUsedUserAgent!: string | null;
}

export const ApiKeyConnection = connectionType('ApiKey', () => ApiKeyType);

@ObjectType('Session', { implements: () => [NodeInterface] })
export class SessionType extends NodeInterface {
  @Field(() => String)
  amr!: string;

  @Field(() => String, { nullable: true })
  provider!: string | null;

  @Field(() => DateTime)
  createdAt!: string;

  @Field(() => DateTime)
  expiresAt!: string;

  @Field(() => DateTime, { nullable: true })
  lastSeenAt!: string | null;

  @Field(() => String, { nullable: true })
  sourceIp!: string | null;

  @Field(() => String, { nullable: true })
  userAgent!: string | null;

  @Field(() => Boolean)
  isCurrent!: boolean;
}

/** Oneself, and anybody for super administrators. Others see an Actor. */
@ObjectType('User', { implements: () => [NodeInterface] })
export class UserType extends NodeInterface {
  @Field(() => String)
  email!: string;

  @Field(() => String)
  displayName!: string;

  @Field(() => String, { nullable: true })
  profilePictureUrl!: string | null;

  @Field(() => String)
  provider!: string;

  @Field(() => Boolean)
  isActive!: boolean;

  @Field(() => Boolean)
  isAdmin!: boolean;

  @Field(() => String, { nullable: true })
  themePreference!: string | null;

  @Field(() => Boolean)
  hasPassword!: boolean;

  @Field(() => DateTime, { nullable: true })
  passwordChangedAt!: string | null;

  @Field(() => Boolean)
  mustChangePassword!: boolean;

  @Field(() => Int, { nullable: true, description: 'Only for super admins.' })
  failedLoginCount!: number | null;

  @Field(() => DateTime, { nullable: true, description: 'Only for super admins.' })
  lockedUntil!: string | null;

  @Field(() => DateTime)
  createdAt!: string;

  @Field(() => DateTime)
  updatedAt!: string;

  @Field(() => DateTime, { nullable: true })
  lastLoginAt!: string | null;

  @Field(() => [MembershipType])
  memberships!: Lazy<MembershipType[]>;
}

@ObjectType('Viewer')
export class ViewerType {
  @Field(() => UserType)
  user!: Lazy<UserType>;

  @Field(() => String)
  authMethod!: string;

  @Field(() => ApiKeyType, { nullable: true })
  apiKey!: Lazy<ApiKeyType | null>;

  @Field(() => [ScopeEnum], { nullable: true })
  scopes!: readonly Scope[] | null;

  @Field(() => Boolean)
  isSuperAdmin!: boolean;

  @Field(() => WorkspaceType, { nullable: true })
  activeWorkspace!: Lazy<WorkspaceType | null>;

  @Field(() => [MembershipType])
  memberships!: Lazy<MembershipType[]>;

  @Field(() => [CapabilityEnum], { description: 'What one may do in the active workspace.' })
  capabilities!: string[];
}

@ObjectType()
export class ApiKeyPayload {
  @Field(() => ApiKeyType)
  apiKey!: ApiKeyType;
}

@ObjectType()
export class CreatedApiKeyPayload extends ApiKeyPayload {
  @Field(() => String, { description: 'Shown this once.' })
  secret!: string;
}

@ObjectType('MailSend', { implements: () => [NodeInterface] })
export class MailSendType extends NodeInterface {
  @Field(() => MailKindEnum)
  kind!: MailSendView['kind'];

  @Field(() => String)
  recipient!: string;

  @Field(() => MailStatusEnum)
  status!: MailSendView['status'];

  @Field(() => DateTime)
  claimedAt!: string;

  @Field(() => DateTime, { nullable: true })
  sentAt!: string | null;

  @Field(() => String, { nullable: true })
  messageId!: string | null;

  @Field(() => String, { nullable: true })
  error!: string | null;
}

export const UserConnection = connectionType('User', () => UserType);
export const MailSendConnection = connectionType('MailSend', () => MailSendType);

@ObjectType()
export class UserPayload {
  @Field(() => UserType)
  user!: UserType;
}

@ObjectType()
export class MintedUserPayload extends UserPayload {
  @Field(() => String, {
    nullable: true,
    description: 'Shown this once, and only where no mail takes it to its owner.',
  })
  oneTimePassword!: string | null;
}
