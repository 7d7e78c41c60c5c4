import { Injectable } from '@nestjs/common';
import { Field, ObjectType } from '@nestjs/graphql';
import { UserService, type ActorView } from '#libs/identity';
import { Batch } from '../engine/batch.js';
import type { Lazy } from '../engine/lazy.js';
import { NodeInterface } from '../schema/node.interface.js';

/** A user as others see one; the address only where the viewer may see it. */
@ObjectType('Actor', {
  implements: () => [NodeInterface],
  description: 'A person as others see one; an erased account stays as “Erased user”.',
})
export class ActorType extends NodeInterface {
  @Field(() => String, { description: 'What to call the person.' })
  displayName!: string;

  @Field(() => String, { nullable: true, description: 'Address for sign-in; null where the viewer may not see it.' })
  email?: string | null;

  @Field(() => String, { nullable: true, description: 'Portrait from the identity provider; null without one.' })
  profilePictureUrl?: string | null;
}

/** The people behind ids, all of an operation in one statement. */
@Injectable()
export class Actors {
  readonly #people: Batch<string, ActorType>;

  constructor(users: UserService) {
    this.#people = new Batch(async (principal, ids) => {
      const views = await users.actor(ids, principal);
      return new Map(ids.map((id) => [id, views.has(id) ? toActor(views.get(id) as ActorView) : unknownActor(id)]));
    });
  }

  of(id: string): Lazy<ActorType> {
    return (_args, context) => context.load(this.#people, id) as Promise<ActorType>;
  }

  maybe(id: string | null): Lazy<ActorType | null> {
    return id === null ? () => null : this.of(id);
  }
}

function unknownActor(id: string): ActorType {
  return { id, displayName: 'Unknown user' };
}

export function toActor({ id, display_name, email, profile_picture_url }: ActorView): ActorType {
  return { id, displayName: display_name, email, profilePictureUrl: profile_picture_url };
}
