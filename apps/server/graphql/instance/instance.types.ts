import { Field, ObjectType } from '@nestjs/graphql';
import { Long } from '../scalars/long.scalar.js';

/** Bounds a client keeps to, so that it is not refused. */
@ObjectType('InstanceLimits')
export class InstanceLimitsType {
  @Field(() => Long, { description: 'Rows of a result page.' })
  resultPageRows!: number;

  @Field(() => Long)
  resultMaxBytes!: number;

  @Field(() => Long)
  maxRequestBytes!: number;

  @Field(() => Long, { description: 'Of a template.' })
  maxBodyChars!: number;

  @Field(() => Long, { description: 'Seconds a node may ask for.' })
  nodeTimeoutMax!: number;
}

/** What this deployment is and allows: the same for everybody who is signed in (contract 10 §1). */
@ObjectType('Instance')
export class InstanceType {
  @Field(() => String)
  version!: string;

  @Field(() => String)
  env!: string;

  @Field(() => String, { nullable: true })
  posture!: string | undefined;

  @Field(() => Boolean)
  authoringEnabled!: boolean;

  @Field(() => Boolean, { description: 'People may sign in with a password.' })
  localAccounts!: boolean;

  @Field(() => Boolean)
  mailEnabled!: boolean;

  @Field(() => Boolean, { description: 'Workspace administrators may register datasources.' })
  memberDatasourcesEnabled!: boolean;

  @Field(() => Boolean)
  graphiqlEnabled!: boolean;

  @Field(() => Boolean)
  demo!: boolean;

  @Field(() => String, { description: 'Of people who chose none: dark or light.' })
  defaultTheme!: string;

  @Field(() => String, { nullable: true })
  baseUrl!: string | undefined;

  @Field(() => [String], { description: 'Parts beyond the core that are served here.' })
  features!: readonly string[];

  @Field(() => InstanceLimitsType)
  limits!: InstanceLimitsType;
}
