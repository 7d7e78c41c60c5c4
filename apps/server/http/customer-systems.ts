import type { ErrorCode } from '#libs/kernel';

const DOWN: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'pipeline.execution.datasource_unreachable',
  'pipeline.node.datasource_connection_failed',
  'datasource.lake.table_unavailable',
  'pipeline.promotion.target_unreachable',
]);

/** Whether a code means that the customer's own system is down: logged as a warning, not as our fault (03 §2). */
export function isCustomerSystemDown(code: ErrorCode): boolean {
  return DOWN.has(code);
}
