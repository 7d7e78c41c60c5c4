import type { ProbeRefusal } from './classify-probe.js';

const SENTENCES: Readonly<Record<ProbeRefusal, string>> = {
  empty: 'The statement is empty.',
  unterminated: 'A literal, a quoted name or a comment does not end.',
  executable_comment: 'A comment that the server would run is not let through; take it out.',
  multiple_statements: 'Send exactly one statement; one ";" may end it.',
  not_a_query: 'The statement must begin with SELECT or WITH.',
  word: 'This word may not stand outside quotes in a statement that only reads; quote it if it is a name',
  function: 'This function does more than read, or leaves the database; it is not called here',
};

/** What is wrong with a refused statement, and what to change. Words and functions are named; values never are. */
export function refusalSentence({ reason, word }: { reason: ProbeRefusal; word?: string }): string {
  return word === undefined ? SENTENCES[reason] : `${SENTENCES[reason]}: ${word}.`;
}
