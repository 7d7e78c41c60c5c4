import { Field, ID, InputType, Int, ObjectType } from '@nestjs/graphql';
import type { Lazy } from '../engine/lazy.js';
import { ActorType } from '../identity/actor.js';
import { connectionType } from '../paging/connection.js';
import { DateTime } from '../scalars/text.scalars.js';
import { NodeInterface } from '../schema/node.interface.js';

@ObjectType('KeyBinding')
export class KeyBindingType {
  @Field(() => String)
  pathPrefix!: string;

  @Field(() => ID)
  keyId!: string;

  @Field(() => String)
  keyName!: string;

  @Field(() => ActorType)
  createdBy!: Lazy<ActorType>;

  @Field(() => DateTime)
  createdAt!: string;
}

@ObjectType('PublishedEndpoint', { implements: () => [NodeInterface] })
export class PublishedEndpointType extends NodeInterface {
  @Field(() => String)
  path!: string;

  @Field(() => String)
  url!: string;

  @Field(() => Int)
  timeoutSeconds!: number;

  @Field(() => String)
  description!: string;

  @Field(() => Boolean)
  isEnabled!: boolean;

  @Field(() => [String])
  pathVariables!: readonly string[];

  @Field(() => [KeyBindingType], { description: 'Bindings of this path and of the prefixes above it.' })
  bindings!: Lazy<KeyBindingType[]>;

  @Field(() => ActorType)
  createdBy!: Lazy<ActorType>;

  @Field(() => DateTime)
  createdAt!: string;

  @Field(() => DateTime)
  updatedAt!: string;

  /** For the pipeline's own resolver. */
  pipelineId!: string;
}

export const PublishedEndpointConnection = connectionType('PublishedEndpoint', () => PublishedEndpointType);

@InputType({ isAbstract: true })
abstract class EndpointSettings {
  @Field(() => Int, { nullable: true })
  timeoutSeconds?: number | null;

  @Field(() => String, { nullable: true })
  description?: string | null;

  @Field(() => Boolean, { nullable: true })
  enabled?: boolean | null;
}

@InputType()
export class PublishEndpointInput extends EndpointSettings {
  @Field(() => String)
  path!: string;

  @Field(() => String, { description: 'Id or name.' })
  pipeline!: string;
}

@InputType()
export class UpdateEndpointInput extends EndpointSettings {
  @Field(() => String)
  path!: string;

  @Field(() => String, { nullable: true })
  pipeline?: string | null;
}

@InputType()
export class UnpublishEndpointInput {
  @Field(() => String)
  path!: string;
}

/** Exactly one of `apiKeyId` and `apiKeyName`. */
@InputType({ isAbstract: true })
abstract class BindingInput {
  @Field(() => String)
  pathPrefix!: string;

  @Field(() => ID, { nullable: true })
  apiKeyId?: string | null;

  @Field(() => String, { nullable: true })
  apiKeyName?: string | null;
}

@InputType()
export class BindEndpointKeyInput extends BindingInput {}

@InputType()
export class UnbindEndpointKeyInput extends BindingInput {}

@ObjectType()
export class EndpointPayload {
  @Field(() => PublishedEndpointType)
  endpoint!: PublishedEndpointType;
}

@ObjectType()
export class KeyBindingPayload {
  @Field(() => KeyBindingType)
  binding!: KeyBindingType;
}

@ObjectType()
export class UnboundPayload {
  @Field(() => String)
  pathPrefix!: string;
}
