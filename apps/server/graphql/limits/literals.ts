import { Lexer, Source, syntaxError, TokenKind, visit, type DocumentNode } from 'graphql';
import { PenstockError } from '#libs/kernel';

/** Of lists and objects in a literal and of lists in the type of a variable: as many as a JSON body may have (03 §1). */
const MAX_NESTING = 100;

/** Far above any document that is admitted, and far below what the parser's recursion can bear. */
const MAX_OPEN_BRACKETS = 500;
const OPENING = new Set<TokenKind>([TokenKind.BRACE_L, TokenKind.BRACKET_L]);
const CLOSING = new Set<TokenKind>([TokenKind.BRACE_R, TokenKind.BRACKET_R]);

/**
 * Counts the tokens of a text, and refuses one whose brackets open without end: the parser would follow them by
 * recursion, also in a text that has too many tokens.
 *
 * @throws GraphQLError where there are too many tokens, or what is none; `graphql.too_deep`
 */
export function judgeTokens(query: string, maxTokens: number): void {
  const source = new Source(query);
  const lexer = new Lexer(source);
  let open = 0;
  let deepest = 0;
  for (let token = lexer.advance(), count = 1; token.kind !== TokenKind.EOF; token = lexer.advance(), count += 1) {
    if (count > maxTokens) {
      throw syntaxError(source, token.start, `The document has more than ${maxTokens} tokens.`);
    }
    if (OPENING.has(token.kind)) open += 1;
    else if (CLOSING.has(token.kind)) open -= 1;
    deepest = Math.max(deepest, open);
  }
  if (deepest > MAX_OPEN_BRACKETS) throw nested('The document', MAX_OPEN_BRACKETS);
}

/**
 * Refuses what no literal of a document may be, before the rules of validation, which read them by recursion: nested
 * without end, or holding U+0000. The scan of the body cannot see that there: in JSON the escape of the document is two
 * plain characters.
 *
 * @throws `graphql.too_deep`; the generic 400 with `reason: malformed_json`, as for a body (03 §1)
 */
export function judgeLiterals(document: DocumentNode): void {
  let depth = 0;
  const nesting = {
    enter(): void {
      depth += 1;
      if (depth <= MAX_NESTING) return;
      throw nested('A value in the document', MAX_NESTING);
    },
    leave(): void {
      depth -= 1;
    },
  };
  visit(document, {
    ListValue: nesting,
    ObjectValue: nesting,
    ListType: nesting,
    StringValue({ value }) {
      if (!value.includes('\u0000')) return;
      throw new PenstockError('pipeline.execution.invalid_parameter_type', {
        message: 'A text in the document holds U+0000, which no text here may.',
        details: { field: 'query', reason: 'malformed_json' },
      });
    },
  });
}

function nested(what: string, limit: number): PenstockError {
  return new PenstockError('graphql.too_deep', {
    message: `${what} is nested more than ${limit} levels deep.`,
    details: { limit },
  });
}
