import {
  type Dialect,
  findUnterminated,
  lexSql,
  refusedEngineFunction,
  significantTokens,
  type SqlToken,
} from '#libs/typesystem';

import { furtherStatement } from '../drivers/mssql/statement-words.js';

export type ProbeVerdict = { ok: true } | { ok: false; reason: ProbeRefusal; word?: string };

export type ProbeRefusal =
  'empty' | 'unterminated' | 'executable_comment' | 'multiple_statements' | 'not_a_query' | 'word' | 'function';

/** Words that no probe may hold outside quotes and comments, wherever they stand (contract 06 §9). */
const REFUSED_WORDS = new Set(
  [
    'INSERT UPDATE DELETE MERGE UPSERT REPLACE DROP CREATE ALTER TRUNCATE GRANT REVOKE DENY CALL EXEC EXECUTE COPY',
    'ATTACH DETACH INSTALL LOAD PRAGMA SET USE VACUUM ANALYZE EXPLAIN IMPORT EXPORT CHECKPOINT INTO',
  ].flatMap((words) => words.split(' ')),
);

/** Words of one dialect only: what moves a sequence, and hints by which a read holds locks that stop others. */
const DIALECT_WORDS: Partial<Record<Dialect, ReadonlySet<string>>> = {
  ORACLE: new Set(['NEXTVAL']),
  H2: new Set(['NEXTVAL']),
  MYSQL: new Set(['NEXTVAL']),
  MSSQL: new Set(['UPDLOCK', 'XLOCK', 'TABLOCKX']),
};

/** Words that are harmless apart: rows locked against others' writes for as long as a probe runs, and sequences moved. */
const REFUSED_PHRASES = ['FOR SHARE', 'FOR KEY SHARE', 'LOCK IN SHARE MODE', 'NEXT VALUE FOR'].map((phrase) =>
  phrase.split(' '),
);

/**
 * Functions whose effect a read-only transaction does not stop, or which leave the database; among them those that run a
 * text as SQL and would hide the others. Of Oracle these are whole packages.
 */
const REFUSED_FUNCTIONS: Partial<Record<Dialect, RegExp>> = {
  POSTGRES:
    /^(?:nextval|setval|set_config|dblink.*|lo_.*|loread|lowrite|query_to_xml.*|cursor_to_xml.*|pg_(?:terminate|cancel)_backend|pg_(?:read|ls|stat)_.*file.*|pg_ls_.*dir.*|pg_(?:try_)?advisory_.*|pg_reload_conf|pg_rotate_logfile.*|pg_notify|pg_logical_.*|pg_replication_.*|pg_(?:create|drop|copy)_.*|pg_switch_wal|pg_wal_replay_.*|pg_promote|pg_(?:start|stop)_backup|pg_backup_.*|pg_export_snapshot|pg_log_.*|pg_sleep.*|pg_stat_.*reset.*|pg_file_.*|ts_stat|ts_rewrite|crosstab.*|connectby|xpath_table|http|http_.*|aws_.*|azure_.*)$/,
  MYSQL:
    /^(?:load_file|get_lock|release_lock|release_all_locks|sleep|benchmark|sys_exec|sys_eval|setval|(?:master|source)_pos_wait|master_gtid_wait|wait_for_executed_gtid_set|wait_until_sql_thread_after_gtids|keyring_key_.*|group_replication_.*|asynchronous_connection_failover_.*)$/,
  ORACLE:
    /^(?:utl_(?!raw$|i18n$).*|dbms_(?!lob$|random$|utility$).*|owa_.*|apex_web_service|httpuritype|dburitype|xdburitype|bfilename)$/,
  SQLITE: /^(?:load_extension|writefile|readfile|edit|fts3_tokenizer)$/,
  DUCKDB: /^nextval$/,
  LAKE: /^nextval$/,
  H2: /^(?:file_write|file_read|csvwrite|csvread|link_schema|memory_used|cancel_session|abort_session|nextval|setval|set)$/,
};

/**
 * Whether a text is one reading statement as far as words tell: the first of two gates, before the engine's own
 * (contract 06 §9). It errs to the strict side: a column named `set` must be quoted.
 */
export function classifyProbe(dialect: Dialect, sql: string): ProbeVerdict {
  const tokens = lexSql(dialect, sql);
  if (findUnterminated(tokens)) return { ok: false, reason: 'unterminated' };
  if (tokens.some(({ executable }) => executable)) return { ok: false, reason: 'executable_comment' };
  const all = significantTokens(tokens);
  const statement = all.at(-1)?.text === ';' ? all.slice(0, -1) : all;
  const first = statement[0];
  if (first === undefined) return { ok: false, reason: 'empty' };
  if (statement.some(({ kind, text }) => kind === 'punctuation' && text === ';'))
    return { ok: false, reason: 'multiple_statements' };
  if (first.kind !== 'word' || !/^(?:SELECT|WITH)$/i.test(first.text)) return { ok: false, reason: 'not_a_query' };
  const word = refusedWord(dialect, statement);
  if (word !== undefined) return { ok: false, reason: 'word', word };
  const called = refusedEngineFunction(dialect, sql) ?? refusedFunction(dialect, statement);
  return called === undefined ? { ok: true } : { ok: false, reason: 'function', word: called };
}

function refusedWord(dialect: Dialect, statement: readonly SqlToken[]): string | undefined {
  const words = statement.map(({ kind, text }) => (kind === 'word' ? text.toUpperCase() : ''));
  const word = words.find((each) => REFUSED_WORDS.has(each) || DIALECT_WORDS[dialect]?.has(each));
  if (word !== undefined) return word;
  const phrase = REFUSED_PHRASES.find((phrase) =>
    words.some((_word, at) => phrase.every((part, offset) => words[at + offset] === part)),
  );
  if (phrase) return phrase.join(' ');
  return dialect === 'MSSQL' ? furtherStatement(statement) : undefined;
}

function refusedFunction(dialect: Dialect, statement: readonly SqlToken[]): string | undefined {
  const refused = REFUSED_FUNCTIONS[dialect];
  if (refused === undefined) return undefined;
  for (const [index, token] of statement.entries()) {
    if (statement[index + 1]?.text !== '(') continue;
    if (isUnicodeName(token)) return calledName(token);
    const found = qualifiedName(statement, index).find((name) => refused.test(name));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `c`, and of `a.b.c` also what stands before it. */
function qualifiedName(statement: readonly SqlToken[], last: number): string[] {
  const names: string[] = [];
  for (let at = last; at >= 0; at -= 2) {
    const name = calledName(statement[at] as SqlToken);
    if (name !== undefined) names.push(name);
    if (statement[at - 1]?.text !== '.') break;
  }
  return names;
}

function calledName({ kind, text }: SqlToken): string | undefined {
  if (kind === 'word') return text.toLowerCase();
  if (kind !== 'quoted_identifier') return undefined;
  return text.replace(/^[^"`[]*["`[]|["`\]]$/g, '').toLowerCase();
}

/** `U&"…"` may spell any name by escapes; nobody needs it to call a function. */
function isUnicodeName({ kind, text }: SqlToken): boolean {
  return kind === 'quoted_identifier' && /^u&/i.test(text);
}
