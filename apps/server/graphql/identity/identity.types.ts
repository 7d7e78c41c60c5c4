import { Field, ID, Int, ObjectType } from '@nestjs/graphql';
import type { MailSendView } from '#libs/identity';
import type { ApiKeyKind, Scope } from '#libs/kernel';
import type { Lazy } from '../engine/lazy.js';
import { connectionType } from '../paging/connection.js';
import { DateTime } from '../scalars/text.scalars.js';
import { ApiKeyKindEnum, CapabilityEnum, MailKindEnum, MailStatusEnum, ScopeEnum } from '../schema/enums.js';
import { NodeInterface } from '../schema/node.interface.js';
import { MembershipType, WorkspaceType } from '../workspaces/workspace.types.js';
import { ActorType } from './actor.js';

@ObjectType('ApiKey', {
  implements: () => [NodeInterface],
  description: 'A credential for programs; its secret was shown once, when it was made.',
})
export class ApiKeyType extends NodeInterface {
  @Field(() => String, { description: 'What its owner called it.' })
  name!: string;

  @Field(() => ApiKeyKindEnum, { description: 'What it may be used for.' })
  kind!: ApiKeyKind;

  @Field(() => [ScopeEnum], {
    description: 'What a user key may do, never more than its owner may; empty for the other kinds.',
  })
  scopes!: Scope[];

  @Field(() => ActorType, { description: 'On whose behalf the key acts.' })
  owner!: Lazy<ActorType>;

  @Field(() => WorkspaceType, { description: 'The only workspace in which the key acts.' })
  workspace!: Lazy<WorkspaceType | undefined>;

  @Field(() => Boolean, { description: 'Whether it was called back; such a key never works again.' })
  isRevoked!: boolean;

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: string;

  @Field(() => DateTime, { nullable: true, description: 'From when on it is refused; null: never.' })
  expiresAt!: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When it was last presented; null if it never was.',
  })
  lastUsedAt!: string | null;

  @Field(() => String, { nullable: true, description: 'Address it was last presented from; null if it never was.' })
  lastUsedIp!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'What the last client called itself; null where it said nothing.',
  })
  lastUsedUserAgent!: string | null;
}

export const ApiKeyConnection = connectionType('ApiKey', () => ApiKeyType);

@ObjectType('Session', {
  implements: () => [NodeInterface],
  description: 'A browser in which the viewer is signed in.',
})
export class SessionType extends NodeInterface {
  @Field(() => String, {
    description: 'How the person proved who they are: `pwd` for a password, `oidc` for an identity provider.',
  })
  amr!: string;

  @Field(() => String, { nullable: true, description: 'The identity provider that vouched; null for a password.' })
  provider!: string | null;

  @Field(() => DateTime, { description: 'When the person signed in.' })
  createdAt!: string;

  @Field(() => DateTime, { description: 'When they have to sign in again.' })
  expiresAt!: string;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the latest request came, to the minute; null if none did since the sign-in.',
  })
  lastSeenAt!: string | null;

  @Field(() => String, { nullable: true, description: 'Address of the sign-in; null where it is not known.' })
  sourceIp!: string | null;

  @Field(() => String, { nullable: true, description: 'What the browser called itself; null where it said nothing.' })
  userAgent!: string | null;

  @Field(() => Boolean, { description: 'Whether this is the session that asks.' })
  isCurrent!: boolean;
}

/** Oneself, and anybody for super administrators. Others see an Actor. */
@ObjectType('User', {
  implements: () => [NodeInterface],
  description: 'An account, shown to its owner and to super administrators; others see an Actor.',
})
export class UserType extends NodeInterface {
  @Field(() => String, { description: 'Address for sign-in, and how invitations find the person.' })
  email!: string;

  @Field(() => String, { description: 'What to call the person.' })
  displayName!: string;

  @Field(() => String, { nullable: true, description: 'Portrait from the identity provider; null without one.' })
  profilePictureUrl!: string | null;

  @Field(() => String, { description: 'Who vouches for the person: `local` or the name of an identity provider.' })
  provider!: string;

  @Field(() => Boolean, { description: 'Whether the account may sign in; its keys rest with it.' })
  isActive!: boolean;

  @Field(() => Boolean, { description: 'Whether the person is a super administrator of the deployment.' })
  isAdmin!: boolean;

  @Field(() => String, { nullable: true, description: '`dark` or `light`; null: as the deployment has it.' })
  themePreference!: string | null;

  @Field(() => Boolean, { description: 'Whether a local password is set.' })
  hasPassword!: boolean;

  @Field(() => DateTime, { nullable: true, description: 'When the local password was last set; null without one.' })
  passwordChangedAt!: string | null;

  @Field(() => Boolean, { description: 'Whether the next sign-in has to choose a new password first.' })
  mustChangePassword!: boolean;

  @Field(() => Int, {
    nullable: true,
    description: 'Wrong passwords since the last right one; null except for super administrators.',
  })
  failedLoginCount!: number | null;

  @Field(() => DateTime, {
    nullable: true,
    description:
      'Until when passwords are refused after too many wrong ones; null if open, and except for super administrators.',
  })
  lockedUntil!: string | null;

  @Field(() => DateTime, { description: 'When the account was made.' })
  createdAt!: string;

  @Field(() => DateTime, { description: 'When the account last changed.' })
  updatedAt!: string;

  @Field(() => DateTime, { nullable: true, description: 'Latest sign-in; null before the first.' })
  lastLoginAt!: string | null;

  @Field(() => [MembershipType], { description: 'The workspaces the person belongs to, with the rights there.' })
  memberships!: Lazy<MembershipType[]>;
}

@ObjectType('Viewer', { description: 'Who is asking, through what, and what they may do.' })
export class ViewerType {
  @Field(() => UserType, { description: 'The account on whose behalf the request is made.' })
  user!: Lazy<UserType>;

  @Field(() => String, { description: 'What was presented: `session` or `api_key`.' })
  authMethod!: string;

  @Field(() => ApiKeyType, { nullable: true, description: 'The key that was presented; null for a session.' })
  apiKey!: Lazy<ApiKeyType | null>;

  @Field(() => [ScopeEnum], {
    nullable: true,
    description: 'What the presented key may do; null for a session, which is not narrowed.',
  })
  scopes!: readonly Scope[] | null;

  @Field(() => Boolean, { description: 'Whether the person administers the whole deployment.' })
  isSuperAdmin!: boolean;

  @Field(() => WorkspaceType, {
    nullable: true,
    description: 'Where everything asked here happens; null for somebody who belongs to none.',
  })
  activeWorkspace!: Lazy<WorkspaceType | null>;

  @Field(() => [MembershipType], { description: 'The workspaces one can switch to, with the rights there.' })
  memberships!: Lazy<MembershipType[]>;

  @Field(() => [CapabilityEnum], { description: 'What one may do in the active workspace.' })
  capabilities!: string[];
}

@ObjectType()
export class ApiKeyPayload {
  @Field(() => ApiKeyType, { description: 'The key as lists will show it.' })
  apiKey!: ApiKeyType;
}

@ObjectType({ description: 'A new key with its secret.' })
export class CreatedApiKeyPayload extends ApiKeyPayload {
  @Field(() => String, { description: 'What programs present; shown this once and stored only as a hash.' })
  secret!: string;
}

@ObjectType('MailSend', {
  implements: () => [NodeInterface],
  description: 'A mail that the deployment sent or tried to send.',
})
export class MailSendType extends NodeInterface {
  @Field(() => MailKindEnum, { description: 'Why it was sent.' })
  kind!: MailSendView['kind'];

  @Field(() => String, { description: 'Address it went to.' })
  recipient!: string;

  @Field(() => MailStatusEnum, { description: 'Whether the mail server took it.' })
  status!: MailSendView['status'];

  @Field(() => DateTime, { description: 'When sending began.' })
  claimedAt!: string;

  @Field(() => DateTime, { nullable: true, description: 'When the mail server took it; null until then.' })
  sentAt!: string | null;

  @Field(() => ID, {
    nullable: true,
    description: 'Its Message-ID, to be found in the logs of mail servers; null until it was sent.',
  })
  messageId!: string | null;

  @Field(() => String, { nullable: true, description: 'Why sending failed; null if it did not.' })
  error!: string | null;
}

export const UserConnection = connectionType('User', () => UserType);
export const MailSendConnection = connectionType('MailSend', () => MailSendType);

@ObjectType({ description: 'Answer of a change to an account.' })
export class UserPayload {
  @Field(() => UserType, { description: 'As it is after the change.' })
  user!: UserType;
}

@ObjectType({ description: 'An account with a password for its first sign-in.' })
export class MintedUserPayload extends UserPayload {
  @Field(() => String, {
    nullable: true,
    description: 'Shown this once; null where a mail takes it to its owner.',
  })
  oneTimePassword!: string | null;
}
