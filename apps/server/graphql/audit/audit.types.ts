import { Field, ID, InputType, ObjectType } from '@nestjs/graphql';
import type { Lazy } from '../engine/lazy.js';
import { ActorType } from '../identity/actor.js';
import { connectionType } from '../paging/connection.js';
import { Json } from '../scalars/json.scalar.js';
import { DateTime } from '../scalars/text.scalars.js';
import { NodeInterface } from '../schema/node.interface.js';

@ObjectType('AuditEvent', {
  implements: () => [NodeInterface],
  description: 'An entry of the audit log: who did or was refused what, from where; never a secret.',
})
export class AuditEventType extends NodeInterface {
  @Field(() => DateTime, { description: 'When the act was recorded.' })
  timestamp!: string;

  @Field(() => String, { description: 'Dotted name of what happened, such as `auth.login_failed`.' })
  event!: string;

  @Field(() => ActorType, { nullable: true, description: 'Who acted; nobody where a stranger was refused.' })
  actor!: Lazy<ActorType> | null;

  @Field(() => ID, { nullable: true, description: 'The key that was presented, or that the event is about.' })
  keyId!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Address the request came from; null for what the server did by itself.',
  })
  sourceIp!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'What the client called itself; null where it said nothing or there was no request.',
  })
  userAgent!: string | null;

  @Field(() => Json, { description: 'Facts of the event, an object whose members depend on `event`.' })
  details!: unknown;
}

export const AuditEventConnection = connectionType('AuditEvent', () => AuditEventType);

@InputType({ description: 'Which entries of the audit log are wanted; what is left out does not narrow.' })
export class AuditFilterInput {
  @Field(() => String, { nullable: true, description: 'The start of a name, such as auth.login.' })
  event?: string | null;

  @Field(() => ID, { nullable: true, description: 'Only acts of this user.' })
  userId?: string | null;

  @Field(() => ID, { nullable: true, description: 'Only events that were done with this API key or are about it.' })
  keyId?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Earliest moment, inclusive.' })
  from?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'Latest moment, exclusive.' })
  to?: string | null;
}
