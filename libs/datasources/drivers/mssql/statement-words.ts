import type { SqlToken } from '#libs/typesystem';

/**
 * Reserved words that begin another statement: T-SQL needs no semicolon between two, and a COMMIT behind a SELECT would
 * keep what the rollback is to undo. None of them can be a plain identifier.
 */
const STATEMENTS = new Set(
  (
    'insert update delete merge truncate drop create alter exec execute commit rollback save begin grant revoke deny set ' +
    'use declare backup restore kill shutdown reconfigure dbcc bulk waitfor if while goto return print raiserror checkpoint ' +
    'open close deallocate writetext updatetext readtext lineno revert setuser break continue into receive'
  ).split(' '),
);

/** Calls by which a SELECT reaches another server or a file. */
const REACHING_CALLS = new Set(['openrowset', 'openquery', 'opendatasource', 'openxml']);

/** Words that are names by themselves and begin a statement, or move a sequence, together with the next one. */
const PAIRS = new Set(
  'next value,add signature,add counter,send on,end conversation,move conversation,get conversation,get transmission,enable trigger,disable trigger'.split(
    ',',
  ),
);

/** What of a reading statement of SQL Server could begin a second one, or reach out; undefined when nothing does. */
export function furtherStatement(tokens: readonly SqlToken[]): string | undefined {
  for (const [index, { kind, text }] of tokens.entries()) {
    if (kind !== 'word') continue;
    const word = text.toLowerCase();
    const next = tokens[index + 1]?.text.toLowerCase() ?? '';
    if (PAIRS.has(`${word} ${next}`)) return `${word} ${next}`.toUpperCase();
    if (STATEMENTS.has(word) || REACHING_CALLS.has(word)) return word.toUpperCase();
  }
  return undefined;
}
