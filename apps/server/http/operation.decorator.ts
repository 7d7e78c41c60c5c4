import { SetMetadata } from '@nestjs/common';
import type { OperationId } from '#libs/identity';

export const OPERATION = 'penstock:operation';

/** `public` marks a handler of the public list (04 §2); everything else names its row of the operations table. */
export type HandlerOperation = OperationId | 'public';

/**
 * Binds a handler to its operation. A handler without one is refused at boot and at run time. Where several
 * operations share a route (the argument or the row decides), the first named is the widest: the service judges the rest.
 */
export const Operation = (operation: HandlerOperation): MethodDecorator => SetMetadata(OPERATION, operation);
