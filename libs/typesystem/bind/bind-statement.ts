import { PenstockError } from '#libs/kernel/pure';
import { hasFormOf, type Dialect, type TypedValue } from '../canonical-type.js';
import { lexSql } from '../sql/lex-sql.js';
import { findUnterminated, type SqlToken } from '../sql/sql-token.js';
import type { BindDialect, BoundValue, DriverValue } from './bound-value.js';
import { duckdb } from './duckdb.js';
import { h2 } from './h2.js';
import { mssql } from './mssql.js';
import { mysql } from './mysql.js';
import { oracle } from './oracle.js';
import { postgres } from './postgres.js';
import { sqlite } from './sqlite.js';
import { bindOverflow } from './value-text.js';

const DIALECT_BINDS: Readonly<Record<Dialect, BindDialect>> = {
  POSTGRES: postgres,
  ORACLE: oracle,
  MSSQL: mssql,
  MYSQL: mysql,
  H2: h2,
  DUCKDB: duckdb,
  SQLITE: sqlite,
  LAKE: duckdb,
};

/** A statement as the driver takes it. `values[i]` belongs to placeholder i+1, `driverTypes[i]` names its type there. */
export interface BoundSql {
  sql: string;
  values: DriverValue[];
  driverTypes: string[];
}

/**
 * Replaces each `:name` outside literals and comments by the dialect's typed placeholder (contract 01 §4.4). The SQL
 * depends on the types of the values, never on the values (but for the cast scale of an unbounded BIGDECIMAL).
 *
 * @throws PenstockError `pipeline.node.sql_parameter_missing` (details.missing) for a name without a value;
 * `pipeline.node.query_execution_failed` with details.reason `too_many_binds` or `bind_overflow`;
 * `pipeline.node.template_render_failed` with reason `unterminated` or `native_placeholder`, which rendering refuses
 * first.
 */
export function bindStatement(dialect: Dialect, namedSql: string, binds: ReadonlyMap<string, TypedValue>): BoundSql {
  const tokens = lexSql(dialect, namedSql);
  refuseUnsafe(tokens);
  refuseMissing(tokens, binds);
  const rules = DIALECT_BINDS[dialect];
  const placeholders = new Map<string, { bound: BoundValue; n: number }>();
  const values: DriverValue[] = [];
  const driverTypes: string[] = [];
  const sql: string[] = [];
  for (const { kind, text } of tokens) {
    const typed = kind === 'bind' ? binds.get(text.slice(1)) : undefined;
    if (!typed) {
      sql.push(text);
      continue;
    }
    let use = placeholders.get(text);
    const known = use !== undefined;
    use ??= { bound: bindValue(rules, typed), n: values.length + 1 };
    if (!known) placeholders.set(text, use);
    if (!known || !rules.numbered) {
      if (values.length === rules.maxBinds) throw tooManyBinds(dialect, rules.maxBinds);
      values.push(use.bound.value);
      driverTypes.push(use.bound.driverType);
    }
    sql.push(use.bound.sql(rules.placeholder(use.n)));
  }
  return { sql: sql.join(''), values, driverTypes };
}

/** A value of another form than its type would be bound as NULL or misread: refused here, once for all dialects. */
function bindValue(rules: BindDialect, typed: TypedValue): BoundValue {
  if (!hasFormOf(typed.type, typed.value)) throw bindOverflow(typed.type, 'it is no value of that type');
  return rules.bind(typed);
}

function refuseUnsafe(tokens: readonly SqlToken[]): void {
  const native = tokens.some(({ kind }) => kind === 'native_placeholder');
  if (!native && !findUnterminated(tokens)) return;
  throw new PenstockError('pipeline.node.template_render_failed', {
    message: native
      ? 'The statement holds a placeholder of the driver; write :name.'
      : 'A literal, quoted identifier or comment of the statement does not end.',
    details: { reason: native ? 'native_placeholder' : 'unterminated' },
  });
}

function refuseMissing(tokens: readonly SqlToken[], binds: ReadonlyMap<string, TypedValue>): void {
  const names = new Set(tokens.filter(({ kind }) => kind === 'bind').map(({ text }) => text.slice(1)));
  const missing = [...names].filter((name) => !binds.has(name));
  if (missing.length === 0) return;
  throw new PenstockError('pipeline.node.sql_parameter_missing', {
    message: `The statement binds :${missing[0]}, which the Context does not hold.`,
    details: { parameter: missing[0], missing },
  });
}

function tooManyBinds(dialect: Dialect, limit: number): PenstockError {
  return new PenstockError('pipeline.node.query_execution_failed', {
    message: `The statement binds more than ${limit} values, the most that ${dialect} takes.`,
    details: { reason: 'too_many_binds', limit },
  });
}
