import { classifyStatement, type Dialect, type StatementClass } from '#libs/typesystem';

import { DriverFailure } from './driver-failure.js';

/**
 * Refuses text that is not exactly one statement of the classes given: the last gate before engines whose protocol
 * takes several, or whose read-only mode a statement could end (06 §2).
 *
 * @throws DriverFailure with a reason
 */
export function oneStatement(dialect: Dialect, sql: string, classes: readonly StatementClass[]): StatementClass {
  const verdict = classifyStatement(dialect, sql);
  if (!verdict.ok) {
    throw new DriverFailure('other', 'The text must hold exactly one statement.', { reason: verdict.reason });
  }
  if (classes.includes(verdict.class)) return verdict.class;
  throw new DriverFailure('other', `A statement that begins with ${verdict.keyword || 'no keyword'} cannot run here.`, {
    reason: 'statement_refused',
  });
}
