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

/** Characters of the longest text whose plan is kept. */
const KEPT_CHARS = 32_768;
/** Of all plans that are kept together; a renderer's heap is sixteen times that. */
const KEPT_BYTES = 32 * 1024 * 1024;
/** What one step takes with its token and those before it (measured on texts of literals only). */
const STEP_BYTES = 160;
const kept = new Map<string, TextPlan>();
let keptBytes = 0;

/**
 * The plan of a text. Renders of one template differ in their values, which stand as markers: equal texts are lexed and
 * judged once. Nothing of a run-time value is in the text, nor kept here.
 */
export function textPlan(dialect: Dialect, text: string): TextPlan {
  if (text.length > KEPT_CHARS) return planned(dialect, text);
  const key = `${dialect}\n${text}`;
  const found = kept.get(key);
  // The one that was asked for last goes last.
  if (found) drop(key, found);
  const plan = found ?? planned(dialect, text);
  kept.set(key, plan);
  keptBytes += bytesOf(key, plan);
  for (const [oldest, old] of kept) {
    if (keptBytes <= KEPT_BYTES) break;
    drop(oldest, old);
  }
  return plan;
}

/** What is kept now, by the estimate that bounds it. */
export const keptPlans = (): { plans: number; bytes: number } => ({ plans: kept.size, bytes: keptBytes });

function drop(key: string, plan: TextPlan): void {
  kept.delete(key);
  keptBytes -= bytesOf(key, plan);
}

/** The text stands in its key and once more, cut into pieces. */
function bytesOf(key: string, { steps }: TextPlan): number {
  return 4 * key.length + STEP_BYTES * steps.length;
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
