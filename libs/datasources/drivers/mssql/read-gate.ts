import { lexSql, significantTokens } from '#libs/typesystem';

import { DriverFailure } from '../driver-failure.js';
import { oneStatement } from '../one-statement.js';
import { furtherStatement } from './statement-words.js';

/**
 * A reading statement of SQL Server, whose transactions know no READ ONLY: what could write is refused before it is
 * sent, and what ran is rolled back.
 *
 * @throws DriverFailure with reason `statement_refused` or that of the statement's defect
 */
export function readingStatement(sql: string): void {
  oneStatement('MSSQL', sql, ['DQL']);
  const word = furtherStatement(significantTokens(lexSql('MSSQL', sql)));
  if (word === undefined) return;
  throw new DriverFailure('other', `A reading statement of SQL Server cannot hold ${word}.`, {
    reason: 'statement_refused',
  });
}
