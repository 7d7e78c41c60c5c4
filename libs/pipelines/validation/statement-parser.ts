/** What the engine's own parser says of one text. */
export interface EngineVerdict {
  /** Statements in the text. */
  statements: number;
  /** Whether it reads only: a SELECT in one of its spellings. */
  reads: boolean;
  /** The parser's complaint, when it could not read the text at all. */
  syntaxError?: string;
  /** Tables of no schema that a SELECT names, without those of its WITH lists; lower case, each once. */
  tables?: readonly string[];
}

/**
 * The parser of the staging engine, for statements that DuckDB will run (contract 01 §2). A port, so that the rules
 * stay pure. It only parses: at save the tables need not exist.
 */
export abstract class EngineStatementParser {
  /** One verdict per text, in order; all texts in one call. */
  abstract parse(statements: readonly string[], signal?: AbortSignal): Promise<EngineVerdict[]>;
}
