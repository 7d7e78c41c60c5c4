import type { Dialect } from '../canonical-type.js';
import { lexSql } from './lex-sql.js';
import { significantTokens, type SqlToken } from './sql-token.js';

/**
 * DuckDB functions that reach past a query into the engine they run in: its log (which holds other people's statements,
 * and whose refusal ends the process), its profiler, parser, checkpoints and memory addresses. `query` and its kin run a
 * text as SQL and would hide the others.
 */
const DUCKDB = new Set(
  [
    'enable_logging disable_logging truncate_duckdb_logs duckdb_logs duckdb_logs_parsed duckdb_log_contexts write_log',
    'enable_profiling disable_profiling enable_profile disable_profile duckdb_profiling_settings all_profiling_output',
    'enable_peg_parser disable_peg_parser check_peg_parser checkpoint force_checkpoint',
    'query query_table json_execute_serialized_sql',
    'duckdb_secrets which_secret arrow_scan arrow_scan_dumb seq_scan',
  ].flatMap((names) => names.split(' ')),
);

/** The first call of an engine function that authors may not use, however it is written; undefined when there is none. */
export function refusedEngineFunction(dialect: Dialect, sql: string): string | undefined {
  if (dialect !== 'DUCKDB' && dialect !== 'LAKE') return undefined;
  const tokens = significantTokens(lexSql(dialect, sql));
  for (const [index, token] of tokens.entries()) {
    const name = nameOf(token);
    if (name !== undefined && tokens[index + 1]?.text === '(' && DUCKDB.has(name)) return name;
  }
  return undefined;
}

function nameOf({ kind, text }: SqlToken): string | undefined {
  if (kind === 'word') return text.toLowerCase();
  return kind === 'quoted_identifier' ? text.slice(1, -1).replaceAll('""', '"').toLowerCase() : undefined;
}
