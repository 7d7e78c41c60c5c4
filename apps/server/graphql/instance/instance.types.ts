import { Field, ObjectType } from '@nestjs/graphql';
import { Long } from '../scalars/long.scalar.js';

/** Bounds a client keeps to, so that it is not refused. */
@ObjectType('InstanceLimits', { description: 'Bounds a client keeps to, so that it is not refused.' })
export class InstanceLimitsType {
  @Field(() => Long, { description: 'Most rows of a result page.' })
  resultPageRows!: number;

  @Field(() => Long, { description: 'Most bytes a run may deliver to its caller.' })
  resultMaxBytes!: number;

  @Field(() => Long, { description: 'Most bytes of a request body.' })
  maxRequestBytes!: number;

  @Field(() => Long, { description: "Most characters of a template's body." })
  maxBodyChars!: number;

  @Field(() => Long, { description: 'Most seconds a node may ask for.' })
  nodeTimeoutMax!: number;
}

/** What this deployment is and allows: the same for everybody who is signed in (contract 10 §1). */
@ObjectType('Instance', { description: 'What this deployment is and allows: the same for everybody who is signed in.' })
export class InstanceType {
  @Field(() => String, { description: 'Release of Penstock that is running.' })
  version!: string;

  @Field(() => String, {
    description: 'Label of the deployment, such as `local` or `prod`.',
  })
  env!: string;

  @Field(() => String, { nullable: true, description: '`development` or `hardened`, which refuses unsafe settings.' })
  posture!: string | undefined;

  @Field(() => Boolean, {
    description: 'Whether drafts can be written here; false where releases only arrive by promotion.',
  })
  authoringEnabled!: boolean;

  @Field(() => Boolean, { description: 'Whether people may sign in with a password.' })
  localAccounts!: boolean;

  @Field(() => Boolean, { description: 'Whether the deployment sends mail, so that passwords need no carrying.' })
  mailEnabled!: boolean;

  @Field(() => Boolean, { description: 'Whether workspace administrators may register datasources.' })
  memberDatasourcesEnabled!: boolean;

  @Field(() => Boolean, { description: 'Whether the GraphQL editor is served at `/graphql`.' })
  graphiqlEnabled!: boolean;

  @Field(() => Boolean, { description: 'Whether the demo workspace was put up at the first start.' })
  demo!: boolean;

  @Field(() => String, { description: '`dark` or `light`, for people who chose none.' })
  defaultTheme!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Address the deployment is reached at from outside; null where it was not told.',
  })
  baseUrl!: string | undefined;

  @Field(() => [String], { description: 'Names of parts beyond the core that are served here.' })
  features!: readonly string[];

  @Field(() => InstanceLimitsType, { description: 'Bounds that requests are held to.' })
  limits!: InstanceLimitsType;
}
