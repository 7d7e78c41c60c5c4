import type { Dialect } from '../canonical-type.js';
import { refusedEngineFunction } from './engine-functions.js';
import { lexSql } from './lex-sql.js';
import { findUnterminated, significantTokens, type SqlToken } from './sql-token.js';
import { skipWithList } from './with-list.js';

export type StatementClass = 'DQL' | 'DML' | 'DDL' | 'OTHER';

export type StatementVerdict =
  | { ok: true; class: StatementClass; keyword: string }
  | { ok: false; reason: 'empty' | 'multiple_statements' | 'unterminated' };

const DQL = ['SELECT', 'VALUES', 'SHOW', 'DESCRIBE'];
const DML = ['INSERT', 'UPDATE', 'DELETE', 'MERGE', 'REPLACE'];
const DDL = ['CREATE', 'ALTER', 'DROP', 'TRUNCATE', 'COMMENT'];

/** Further words of reading statements. DuckDB's own parser has the last word on a DQL there (contract 01 §2). */
const DQL_OF_DIALECT: Partial<Record<Dialect, readonly string[]>> = {
  DUCKDB: ['FROM', 'PIVOT', 'UNPIVOT', 'SUMMARIZE', 'DESC'],
  LAKE: ['FROM', 'PIVOT', 'UNPIVOT', 'SUMMARIZE', 'DESC'],
  MYSQL: ['DESC'],
};

/**
 * Statement discipline (contract 01 §2): exactly one statement, one `;` behind it allowed, its class by the first
 * keyword behind a WITH list. What a SELECT writes INTO, a MySQL comment that the server
 * runs, and a call into the DuckDB engine itself make it OTHER.
 */
export function classifyStatement(dialect: Dialect, sql: string): StatementVerdict {
  const tokens = lexSql(dialect, sql);
  if (findUnterminated(tokens)) return { ok: false, reason: 'unterminated' };
  const significant = significantTokens(tokens);
  const separator = significant.findIndex(({ text }) => text === ';');
  if (separator >= 0 && separator < significant.length - 1) return { ok: false, reason: 'multiple_statements' };
  const statement = separator < 0 ? significant : significant.slice(0, separator);
  if (statement.length === 0) return { ok: false, reason: 'empty' };
  if (tokens.some(({ executable }) => executable)) return { ok: true, class: 'OTHER', keyword: '/*!' };
  const engineFunction = refusedEngineFunction(dialect, sql);
  if (engineFunction !== undefined) return { ok: true, class: 'OTHER', keyword: engineFunction };
  const keyword = leadingKeyword(statement);
  const found = classOf(dialect, keyword);
  if (found === 'DQL' && HAS_SELECT_INTO[dialect] && writesInto(statement))
    return { ok: true, class: 'OTHER', keyword: 'INTO' };
  return { ok: true, class: found, keyword };
}

function classOf(dialect: Dialect, keyword: string): StatementClass {
  if (DQL.includes(keyword) || DQL_OF_DIALECT[dialect]?.includes(keyword)) return 'DQL';
  return DML.includes(keyword) ? 'DML' : DDL.includes(keyword) ? 'DDL' : 'OTHER';
}

/** Upper-case keyword of the statement, or '' when it begins with something else. */
function leadingKeyword(statement: readonly SqlToken[]): string {
  let at = 0;
  for (;;) {
    while (statement[at]?.text === '(') at++;
    const token = statement[at];
    if (token?.kind !== 'word') return '';
    const word = token.text.toUpperCase();
    if (word !== 'WITH') return word;
    at = skipWithList(statement, at);
  }
}

/** DuckDB has no SELECT INTO, and its UNPIVOT says INTO for something else. */
const HAS_SELECT_INTO: Record<Dialect, boolean> = {
  POSTGRES: true,
  ORACLE: true,
  MSSQL: true,
  MYSQL: true,
  H2: true,
  SQLITE: true,
  DUCKDB: false,
  LAKE: false,
};

const SET_OPERATORS = ['UNION', 'EXCEPT', 'INTERSECT', 'MINUS', 'ALL', 'DISTINCT'];

/** INTO at the statement's own level; parentheses that wrap a whole query or an operand of UNION do not hide it. */
function writesInto(statement: readonly SqlToken[]): boolean {
  const hiding: boolean[] = [];
  let hidden = 0;
  for (const [index, { kind, text }] of statement.entries()) {
    if (kind === 'word') {
      if (hidden === 0 && text.toUpperCase() === 'INTO' && statement[index - 1]?.text !== '.') return true;
    } else if (kind !== 'punctuation') continue;
    else if (text === '(') {
      const hides = !opensQuery(statement, index);
      hiding.push(hides);
      if (hides) hidden++;
    } else if (text === ')' && hiding.pop()) hidden--;
  }
  return false;
}

/** A parenthesis that stands where a query may begin: at the start, in another such one, behind a set operator. */
function opensQuery(statement: readonly SqlToken[], index: number): boolean {
  const before = statement[index - 1];
  if (before === undefined || before.text === '(') return true;
  return before.kind === 'word' && SET_OPERATORS.includes(before.text.toUpperCase());
}
