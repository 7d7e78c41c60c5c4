import { Field, InputType } from '@nestjs/graphql';
import type { BrowseOrder, OrderField } from '#libs/lifecycle';
import { OrderDirectionEnum, OrderFieldEnum } from './enums.js';

export type OrderDirection = 'ASC' | 'DESC';

/** How a list of pipelines or templates is ordered. */
@InputType({ isAbstract: true })
export abstract class BrowseOrderInput {
  @Field(() => OrderFieldEnum, { description: 'What is compared; equal ones follow in a fixed order.' })
  field!: OrderField;

  @Field(() => OrderDirectionEnum, { description: 'Whether the list rises or falls.' })
  direction!: OrderDirection;
}

/** What is not ordered is by name. */
export function browseOrder(given: BrowseOrderInput | null | undefined): BrowseOrder {
  return { field: given?.field ?? 'name', descending: given?.direction === 'DESC' };
}
