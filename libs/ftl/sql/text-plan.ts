import type { Dialect } from '#libs/typesystem';
import { findUnterminated, lexSql, significantTokens, type SqlToken } from '#libs/typesystem';
import { ClauseTracker } from './clauses.js';

/** A token that may be, or hold, a bind, with all that its place says of it. */
export interface PlacedToken {
  token: SqlToken;
  /** A value here would take the place of structure (contract 05 §5.3). */
  structural: boolean;
  /** The two significant tokens before it, as far as there are any. */
  before: readonly SqlToken[];
}

/** What can be said of a text with markers before one value is looked at. */
export interface TextPlan {
  /** The token that does not end. */
  open: SqlToken | undefined;
  /** Text that is copied as it is, and the tokens between. */
  steps: readonly (string | PlacedToken)[];
}

/** Tokens that can hold no bind: a marker ends a word and a number. */
const PLAIN: ReadonlySet<SqlToken['kind']> = new Set(['whitespace', 'word', 'number', 'punctuation']);

/** Most plans kept, of texts no longer than this many characters: what warm templates print, a few megabytes at most. */
const KEPT = 128;
const KEPT_CHARS = 32_768;
const kept = new Map<string, TextPlan>();

/**
 * The plan of a text. Renders of one template differ in their values, which stand as markers: equal texts are lexed and
 * judged once. Nothing of a run-time value is in the text, nor kept here.
 */
export function textPlan(dialect: Dialect, text: string): TextPlan {
  if (text.length > KEPT_CHARS) return planned(dialect, text);
  const key = `${dialect}\n${text}`;
  const found = kept.get(key);
  // The one that was asked for last goes last.
  if (found) kept.delete(key);
  const plan = found ?? planned(dialect, text);
  kept.set(key, plan);
  const [oldest] = kept.keys();
  if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
  return plan;
}

function planned(dialect: Dialect, text: string): TextPlan {
  const tokens = lexSql(dialect, text);
  const open = findUnterminated(tokens);
  if (open) return { open, steps: [] };
  const significant = significantTokens(tokens);
  const clauses = new ClauseTracker();
  const steps: (string | PlacedToken)[] = [];
  let copied = '';
  let seen = 0;
  for (const token of tokens) {
    const counts = token.kind !== 'whitespace' && token.kind !== 'comment';
    // Of a comment, the first significant token behind it.
    const behind = counts ? seen + 1 : seen;
    if (PLAIN.has(token.kind)) copied += token.text;
    else {
      if (copied !== '') steps.push(copied);
      copied = '';
      const structural = clauses.structural(significant.slice(behind, behind + 2));
      steps.push({ token, structural, before: significant.slice(Math.max(0, behind - 3), behind - 1) });
    }
    seen = behind;
    if (counts) clauses.advance(token);
  }
  if (copied !== '') steps.push(copied);
  return { open, steps };
}
