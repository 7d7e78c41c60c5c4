import { lexSql, significantTokens } from '#libs/typesystem';

import { DriverFailure } from '../driver-failure.js';
import { oneStatement } from '../one-statement.js';

/**
 * Reserved words that begin another statement: T-SQL needs no semicolon between two, and a COMMIT behind a SELECT would
 * keep what the rollback is to undo. None of them can be a plain identifier.
 */
const STATEMENTS = new Set(
  (
    'insert update delete merge truncate drop create alter exec execute commit rollback save begin grant revoke deny set ' +
    'use declare backup restore kill shutdown reconfigure dbcc bulk waitfor if while goto return print raiserror checkpoint ' +
    'open close deallocate writetext updatetext into'
  ).split(' '),
);

/** Calls by which a SELECT reaches another server or a file. */
const REACHING_CALLS = new Set(['openrowset', 'openquery', 'opendatasource', 'openxml']);

/**
 * A reading statement of SQL Server, whose transactions know no READ ONLY: what could write is refused before it is
 * sent, and what ran is rolled back.
 *
 * @throws DriverFailure with reason `statement_refused` or that of the statement's defect
 */
export function readingStatement(sql: string): void {
  oneStatement('MSSQL', sql, ['DQL']);
  const tokens = significantTokens(lexSql('MSSQL', sql));
  for (const [index, { kind, text }] of tokens.entries()) {
    const next = tokens[index + 1]?.text.toLowerCase();
    const word = kind === 'word' ? text.toLowerCase() : '';
    const isSequence = word === 'next' && next === 'value';
    if (!isSequence && !STATEMENTS.has(word) && !REACHING_CALLS.has(word)) continue;
    throw new DriverFailure('other', `A reading statement of SQL Server cannot hold ${text.toUpperCase()}.`, {
      reason: 'statement_refused',
    });
  }
}
