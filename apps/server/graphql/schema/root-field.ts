import { applyDecorators } from '@nestjs/common';
import { Extensions } from '@nestjs/graphql';
import type { OperationId } from '#libs/identity';
import { COST } from '../limits/operation-cost.js';

/** Name under which a root field's row of the operations table stands in its `extensions`. */
export const OPERATION_EXTENSION = 'operation';

/**
 * Binds a query, mutation or subscription to its row of the operations table. One guard reads it before the resolver
 * runs; a schema with a root field that has none does not start.
 */
export function RootField(operation: OperationId): MethodDecorator & PropertyDecorator {
  return applyDecorators(Extensions({ [OPERATION_EXTENSION]: operation }));
}

/** The cost of selecting a field, where the general rule would be wrong (03 §12). */
export function Cost(cost: number): MethodDecorator & PropertyDecorator {
  return applyDecorators(Extensions({ [COST]: cost }));
}
