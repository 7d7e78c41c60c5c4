import { Field, Int, InterfaceType } from '@nestjs/graphql';
import type { VersionStatus } from '#libs/lifecycle';
import type { VersionStamps } from '#libs/templates';
import type { Lazy } from '../engine/lazy.js';
import { ActorType, type Actors } from '../identity/actor.js';
import { DateTime } from '../scalars/text.scalars.js';
import { VersionStatusEnum, WriteSurfaceEnum } from './enums.js';
import { NodeInterface } from './node.interface.js';

/** What versions of pipelines and templates have in common. */
@InterfaceType('Version', { implements: () => [NodeInterface] })
export abstract class VersionInterface extends NodeInterface {
  @Field(() => Int)
  number!: number;

  @Field(() => VersionStatusEnum)
  status!: VersionStatus;

  @Field(() => String)
  bodyHash!: string;

  @Field(() => Boolean)
  isCurrent!: boolean;

  @Field(() => DateTime)
  createdAt!: string;

  @Field(() => ActorType)
  createdBy!: Lazy<ActorType>;

  @Field(() => WriteSurfaceEnum)
  createdVia!: string;

  @Field(() => DateTime, { nullable: true })
  updatedAt!: string | null;

  @Field(() => ActorType, { nullable: true })
  updatedBy!: Lazy<ActorType | null>;

  @Field(() => WriteSurfaceEnum, { nullable: true })
  updatedVia!: string | null;

  @Field(() => DateTime, { nullable: true })
  releasedAt!: string | null;

  @Field(() => ActorType, { nullable: true })
  releasedBy!: Lazy<ActorType | null>;

  @Field(() => DateTime, { nullable: true })
  discardedAt!: string | null;

  @Field(() => ActorType, { nullable: true })
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
