import { lexSql, significantTokens } from '#libs/typesystem';

import { DriverFailure } from '../driver-failure.js';
import { oneStatement } from '../one-statement.js';

/** Calls by which a SELECT of H2 writes: files, links, sequences, other people's sessions, shared variables. */
const WRITING_CALLS = new Set([
  'csvwrite',
  'file_write',
  'link_schema',
  'nextval',
  'setval',
  'cancel_session',
  'abort_session',
  'set',
]);

/**
 * A reading statement of H2. Its transactions know no READ ONLY, so what a SELECT could write with is refused before
 * it is sent, and what ran is rolled back.
 *
 * @throws DriverFailure with reason `statement_refused` or that of the statement's defect
 */
export function readingStatement(sql: string): void {
  oneStatement('H2', sql, ['DQL']);
  const words = significantTokens(lexSql('H2', sql)).map(({ kind, text }) => ({
    plain: kind === 'word' ? text.toLowerCase() : text,
    name: kind === 'quoted_identifier' ? text.slice(1, -1).toLowerCase() : text.toLowerCase(),
  }));
  for (const [index, { plain, name }] of words.entries()) {
    const next = words[index + 1]?.plain;
    const isCall = next === '(' && WRITING_CALLS.has(name);
    const isDelta = ['final', 'new', 'old'].includes(plain) && next === 'table' && words[index + 2]?.plain === '(';
    const isSequence = plain === 'next' && next === 'value';
    if (!isCall && !isDelta && !isSequence) continue;
    throw new DriverFailure('other', `A reading statement of H2 cannot hold ${name.toUpperCase()}.`, {
      reason: 'statement_refused',
    });
  }
}
