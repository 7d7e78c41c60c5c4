import { Query, Resolver } from '@nestjs/graphql';
import { CALCULATORS, describeCalculator, type CalculatorReference } from '#libs/calculators';
import { Json } from '../scalars/json.scalar.js';
import { RootField } from '../schema/root-field.js';

@Resolver()
export class CalculatorsResolver {
  @Query(() => Json, { name: 'calculators', description: 'Every calculator with its inputs, outputs and examples.' })
  @RootField('reference.read')
  calculators(): CalculatorReference[] {
    return CALCULATORS.map(describeCalculator);
  }
}
