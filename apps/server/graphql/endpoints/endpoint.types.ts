import { Field, ID, InputType, Int, ObjectType } from '@nestjs/graphql';
import type { Lazy } from '../engine/lazy.js';
import { ActorType } from '../identity/actor.js';
import { connectionType } from '../paging/connection.js';
import { DateTime } from '../scalars/text.scalars.js';
import { NodeInterface } from '../schema/node.interface.js';

@ObjectType('KeyBinding', { description: "An endpoint key's right to call the paths below a prefix." })
export class KeyBindingType {
  @Field(() => String, {
    description: 'Covers this path and everything below it, unless a deeper prefix has bindings of its own.',
  })
  pathPrefix!: string;

  @Field(() => ID, { description: 'The endpoint key that may call.' })
  keyId!: string;

  @Field(() => String, { description: 'What its owner called the key.' })
  keyName!: string;

  @Field(() => ActorType, { description: 'Who bound it.' })
  createdBy!: Lazy<ActorType>;

  @Field(() => DateTime, { description: 'Since when it has been bound.' })
  createdAt!: string;
}

@ObjectType('PublishedEndpoint', {
  implements: () => [NodeInterface],
  description: 'An HTTP path under `/api/x` that runs a pipeline without side effects and answers with its rows.',
})
export class PublishedEndpointType extends NodeInterface {
  @Field(() => String, { description: 'Below `/api/x`, with variables in braces, such as `/orders/{region}`.' })
  path!: string;

  @Field(() => String, { description: 'What a caller asks for: absolute where the deployment knows its own address.' })
  url!: string;

  @Field(() => Int, {
    description: 'What callers get; stands in the OpenAPI document.',
  })
  timeoutSeconds!: number;

  @Field(() => String, { description: 'What callers get; stands in the OpenAPI document.' })
  description!: string;

  @Field(() => Boolean, { description: 'Whether it answers; a disabled one keeps its path and its bindings.' })
  isEnabled!: boolean;

  @Field(() => [String], { description: 'Names in braces in the path, each a parameter of the pipeline.' })
  pathVariables!: readonly string[];

  @Field(() => [KeyBindingType], { description: 'Bindings of this path and of the prefixes above it.' })
  bindings!: Lazy<KeyBindingType[]>;

  @Field(() => ActorType, { description: 'Who published it.' })
  createdBy!: Lazy<ActorType>;

  @Field(() => DateTime, { description: 'When it was published.' })
  createdAt!: string;

  @Field(() => DateTime, { description: 'When its settings were last changed.' })
  updatedAt!: string;

  /** For the pipeline's own resolver. */
  pipelineId!: string;
}

export const PublishedEndpointConnection = connectionType('PublishedEndpoint', () => PublishedEndpointType);

@InputType({ isAbstract: true })
abstract class EndpointSettings {
  @Field(() => Int, {
    nullable: true,
    description: 'What callers get; stands in the OpenAPI document.',
  })
  timeoutSeconds?: number | null;

  @Field(() => String, { nullable: true, description: 'What callers get; stands in the OpenAPI document.' })
  description?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether it answers.' })
  enabled?: boolean | null;
}

@InputType({ description: 'A path and the pipeline it is to run.' })
export class PublishEndpointInput extends EndpointSettings {
  @Field(() => String, { description: 'Below `/api/x`, variables in braces, such as `/orders/{region}`.' })
  path!: string;

  @Field(() => String, { description: 'Id or name of a released pipeline that only reads.' })
  pipeline!: string;
}

@InputType({ description: 'What to change of a published path; what is left out stays.' })
export class UpdateEndpointInput extends EndpointSettings {
  @Field(() => String, { description: 'The published path, as it was given.' })
  path!: string;

  @Field(() => String, { nullable: true, description: 'Id or name of the pipeline it runs from now on.' })
  pipeline?: string | null;
}

@InputType({ description: 'The path to take off the air.' })
export class UnpublishEndpointInput {
  @Field(() => String, { description: 'The published path, as it was given.' })
  path!: string;
}

/** Exactly one of `apiKeyId` and `apiKeyName`. */
@InputType({ isAbstract: true })
abstract class BindingInput {
  @Field(() => String, { description: '`/`, a published path, or the front of one by whole segments.' })
  pathPrefix!: string;

  @Field(() => ID, { nullable: true, description: 'Id of the endpoint key; excludes `apiKeyName`.' })
  apiKeyId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: "Name of one's own endpoint key, or any of the workspace for its administrators; excludes `apiKeyId`.",
  })
  apiKeyName?: string | null;
}

@InputType({ description: 'Which endpoint key may call which paths.' })
export class BindEndpointKeyInput extends BindingInput {}

@InputType({ description: 'Which endpoint key is to lose which prefix.' })
export class UnbindEndpointKeyInput extends BindingInput {}

@ObjectType({ description: 'Answer of publishing and changing.' })
export class EndpointPayload {
  @Field(() => PublishedEndpointType, { description: 'As it is after the change.' })
  endpoint!: PublishedEndpointType;
}

@ObjectType({ description: 'Answer of binding a key.' })
export class KeyBindingPayload {
  @Field(() => KeyBindingType, { description: 'The right the key has from now on.' })
  binding!: KeyBindingType;
}

@ObjectType({ description: 'Answer of unbinding a key.' })
export class UnboundPayload {
  @Field(() => String, { description: 'The prefix the key may no longer call.' })
  pathPrefix!: string;
}
