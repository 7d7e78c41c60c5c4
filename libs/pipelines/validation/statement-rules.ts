import { classifyStatement, refusedEngineFunction, type Dialect } from '#libs/typesystem';
import type { SqlNodeType } from '../document/pipeline-document.js';
import type { EngineVerdict } from './statement-parser.js';

export interface StatementDefect {
  reason: 'class' | 'multiple_statements' | 'empty' | 'syntax';
  message: string;
}

const CLASSES: Readonly<Record<SqlNodeType, string>> = {
  DQL: 'SELECT, WITH … SELECT, VALUES, SHOW or DESCRIBE',
  DML: 'INSERT, UPDATE, DELETE, MERGE or REPLACE',
  DDL: 'CREATE, ALTER, DROP, TRUNCATE or COMMENT',
};

/** Whether DuckDB's own parser has the last word on a statement. */
export function isParsedByEngine(dialect: Dialect): boolean {
  return dialect === 'DUCKDB' || dialect === 'LAKE';
}

/** What a text is by itself, whatever node runs it. Reading it takes a pass over all of its characters. */
export interface StatementFacts {
  lexed: ReturnType<typeof classifyStatement>;
  /** A function of the engine that no node may call. */
  engineFunction: string | undefined;
}

export function statementFacts(dialect: Dialect, sql: string): StatementFacts {
  return { lexed: classifyStatement(dialect, sql), engineFunction: refusedEngineFunction(dialect, sql) };
}

/**
 * Statement discipline (contract 01 §2): exactly one statement of the node's class.
 * `verdict` is the engine's, for the dialects it parses.
 */
export function statementDefect(
  type: SqlNodeType,
  { lexed, engineFunction }: StatementFacts,
  verdict?: EngineVerdict,
): StatementDefect | undefined {
  if (!lexed.ok && lexed.reason !== 'unterminated') return lone(lexed.reason);
  if (verdict?.syntaxError !== undefined) {
    return { reason: 'syntax', message: `The engine cannot parse the statement: ${firstLine(verdict.syntaxError)}` };
  }
  if (verdict && verdict.statements !== 1) return lone(verdict.statements === 0 ? 'empty' : 'multiple_statements');
  if (engineFunction !== undefined) {
    return {
      reason: 'class',
      message: `The function ${engineFunction}() works on the engine itself; a node may not call it.`,
    };
  }
  const found = lexed.ok ? lexed.class : 'OTHER';
  const fits = verdict && type === 'DQL' ? verdict.reads : found === type;
  if (fits) return undefined;
  return {
    reason: 'class',
    message: `A ${type} node runs one ${CLASSES[type]}; the rendered statement is none.`,
  };
}

function lone(reason: 'multiple_statements' | 'empty'): StatementDefect {
  return {
    reason,
    message:
      reason === 'empty'
        ? 'The template renders no statement at all.'
        : 'The template renders several statements: give each a node of its own.',
  };
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!.slice(0, 200);
}
