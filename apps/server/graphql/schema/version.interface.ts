import { Field, Int, InterfaceType } from '@nestjs/graphql';
import type { VersionStamps, VersionStatus } from '#libs/lifecycle';
import type { Lazy } from '../engine/lazy.js';
import { ActorType, type Actors } from '../identity/actor.js';
import { DateTime } from '../scalars/text.scalars.js';
import { VersionStatusEnum, WriteSurfaceEnum } from './enums.js';
import { NodeInterface } from './node.interface.js';

/** What versions of pipelines and templates have in common. */
@InterfaceType('Version', {
  implements: () => [NodeInterface],
  description: 'A numbered state of a pipeline or template: a draft can be changed, a release never.',
})
export abstract class VersionInterface extends NodeInterface {
  @Field(() => Int, { description: 'Counts from 1 within the pipeline or template.' })
  number!: number;

  @Field(() => VersionStatusEnum, { description: 'Where in its life it is: being written, released, or set aside.' })
  status!: VersionStatus;

  @Field(() => String, {
    description:
      'SHA-256 of the normal form in hex; give it back as `expectedHash`, so that nobody overwrites unseen changes.',
  })
  bodyHash!: string;

  @Field(() => Boolean, {
    description: 'Whether this is the version that runs and readers get when they name none.',
  })
  isCurrent!: boolean;

  @Field(() => DateTime, { description: 'When the first draft of this number was saved.' })
  createdAt!: string;

  @Field(() => ActorType, { description: 'Who saved the first draft of this number.' })
  createdBy!: Lazy<ActorType>;

  @Field(() => WriteSurfaceEnum, { description: 'The kind of credential it was first saved with.' })
  createdVia!: string;

  @Field(() => DateTime, { nullable: true, description: 'When the draft was last saved over; null if it never was.' })
  updatedAt!: string | null;

  @Field(() => ActorType, { nullable: true, description: 'Who last saved the draft over; null if nobody did.' })
  updatedBy!: Lazy<ActorType | null>;

  @Field(() => WriteSurfaceEnum, {
    nullable: true,
    description: 'The kind of credential of the last save; null if there was none after the first.',
  })
  updatedVia!: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When it became unchangeable; null for what was never released.',
  })
  releasedAt!: string | null;

  @Field(() => ActorType, { nullable: true, description: 'Who released it; null for what was never released.' })
  releasedBy!: Lazy<ActorType | null>;

  @Field(() => DateTime, { nullable: true, description: 'When it was set aside; null unless it is DISCARDED.' })
  discardedAt!: string | null;

  @Field(() => ActorType, { nullable: true, description: 'Who set it aside; null unless it is DISCARDED.' })
  discardedBy!: Lazy<ActorType | null>;
}

interface VersionFacts extends VersionStamps {
  version: number;
  status: VersionStatus;
  body_hash: string;
  is_current: boolean;
}

export function versionFields(id: string, facts: VersionFacts, actors: Actors): VersionInterface {
  return {
    id,
    number: facts.version,
    status: facts.status,
    bodyHash: facts.body_hash,
    isCurrent: facts.is_current,
    createdAt: facts.created_at,
    createdBy: actors.of(facts.created_by),
    createdVia: facts.created_via,
    updatedAt: facts.updated_at,
    updatedBy: actors.maybe(facts.updated_by),
    updatedVia: facts.updated_via,
    releasedAt: facts.released_at,
    releasedBy: actors.maybe(facts.released_by),
    discardedAt: facts.discarded_at,
    discardedBy: actors.maybe(facts.discarded_by),
  };
}
