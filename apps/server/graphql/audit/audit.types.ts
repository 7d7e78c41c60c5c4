import { Field, ID, InputType, ObjectType } from '@nestjs/graphql';
import type { Lazy } from '../engine/lazy.js';
import { ActorType } from '../identity/actor.js';
import { connectionType } from '../paging/connection.js';
import { Json } from '../scalars/json.scalar.js';
import { DateTime } from '../scalars/text.scalars.js';
import { NodeInterface } from '../schema/node.interface.js';

@ObjectType('AuditEvent', { implements: () => [NodeInterface] })
export class AuditEventType extends NodeInterface {
  @Field(() => DateTime)
  timestamp!: string;

  @Field(() => String)
  event!: string;

  @Field(() => ActorType, { nullable: true, description: 'Who acted; nobody where a stranger was refused.' })
  actor!: Lazy<ActorType> | null;

  @Field(() => ID, { nullable: true, description: 'The key that was presented, or that the event is about.' })
  keyId!: string | null;

  @Field(() => String, { nullable: true })
  sourceIp!: string | null;

  @Field(() => String, { nullable: true })
  userAgent!: string | null;

  @Field(() => Json)
  details!: unknown;
}

export const AuditEventConnection = connectionType('AuditEvent', () => AuditEventType);

@InputType()
export class AuditFilterInput {
  @Field(() => String, { nullable: true, description: 'The start of a name, such as auth.login.' })
  event?: string | null;

  @Field(() => ID, { nullable: true })
  userId?: string | null;

  @Field(() => ID, { nullable: true })
  keyId?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Inclusive.' })
  from?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Exclusive.' })
  to?: string | null;
}
