import { Query, Resolver } from '@nestjs/graphql';
import { InstanceRoster } from '#libs/executions';
import { RootField } from '../schema/root-field.js';
import { SystemType } from './system.types.js';

/** What an operator asks first: which servers live, what they run, and whether their jobs went well. */
@Resolver(() => SystemType)
export class SystemResolver {
  constructor(private readonly roster: InstanceRoster) {}

  @Query(() => SystemType, {
    name: 'system',
    description: 'The servers of this deployment at work, for super administrators.',
  })
  @RootField('system.read')
  async system(): Promise<SystemType> {
    const instances = await this.roster.standings();
    return { instances, runsInFlight: instances.reduce((sum, { runsInFlight }) => sum + runsInFlight, 0) };
  }
}
