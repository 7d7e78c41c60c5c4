import { describe, expect, it } from '@jest/globals';
import { DIALECTS, type Dialect } from '#libs/typesystem';
import { classifyProbe } from './classify-probe.js';

describe('the classifier of probes', () => {
  const everywhere: [sql: string, reason: string][] = [
    ['', 'empty'],
    [' ; ', 'empty'],
    ['-- only a comment', 'empty'],
    ['SELECT 1; SELECT 2', 'multiple_statements'],
    ['SELECT 1;;', 'multiple_statements'],
    ['SELECT 1; DROP TABLE t', 'multiple_statements'],
    ['/* SELECT */ DELETE FROM t', 'not_a_query'],
    ['VALUES (1)', 'not_a_query'],
    ['(SELECT 1)', 'not_a_query'],
    ['DO $$ BEGIN END $$', 'not_a_query'],
    ['PRAGMA writable_schema', 'not_a_query'],
    ['EXPLAIN SELECT 1', 'not_a_query'],
    ['BEGIN', 'not_a_query'],
    ['WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x', 'word'],
    ['WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x', 'word'],
    ['with x as (select 1) uPdAtE t set a = 1', 'word'],
    ['SELECT * INTO copy_of_t FROM t', 'word'],
    ['SELECT 1 /* */ INTO/**/t2', 'word'],
    ['SELECT * FROM t FOR UPDATE', 'word'],
    ["SELECT 'open", 'unterminated'],
    ['SELECT 1 /* open', 'unterminated'],
  ];

  it.each(DIALECTS)('refuses what writes, hides or chains on %s', (dialect) => {
    for (const [sql, reason] of everywhere) {
      if (sql.includes('$$')) expect(classifyProbe(dialect, sql).ok).toBe(false);
      else expect([sql, classifyProbe(dialect, sql)]).toEqual([sql, expect.objectContaining({ ok: false, reason })]);
    }
  });

  const ofDialect: [Dialect, string][] = [
    ['POSTGRES', "SELECT setval('s', 1)"],
    ['POSTGRES', `SELECT pg_catalog."setval"('s', 1)`],
    ['POSTGRES', `SELECT U&"\\0073etval"('s', 1)`],
    ['POSTGRES', 'SELECT pg_terminate_backend /* c */ (1)'],
    ['POSTGRES', "SELECT lo_import('/etc/passwd')"],
    ['POSTGRES', "SELECT pg_read_file('/etc/passwd')"],
    ['POSTGRES', "SELECT dblink_exec('x', 'y')"],
    ['POSTGRES', "SELECT set_config('transaction_read_only', 'off', false)"],
    ['POSTGRES', "SELECT query_to_xml('x', true, true, '')"],
    ['POSTGRES', "SELECT E'\\'; ' ; DROP TABLE t --'"],
    ['POSTGRES', "SELECT * FROM ts_stat('SELECT to_tsvector(pg_terminate_backend(1)::text)')"],
    ['POSTGRES', "SELECT ts_rewrite('a'::tsquery, 'SELECT nextval(1)')"],
    ['ORACLE', "SELECT utl_http.request('http://x/') FROM dual"],
    ['ORACLE', `SELECT SYS . "UTL_INADDR" . get_host_address('x') FROM dual`],
    ['ORACLE', "SELECT dbms_xmlgen.getxml('SELECT 1 FROM dual') FROM dual"],
    ['ORACLE', "SELECT HttpUriType('http://x/').getClob() FROM dual"],
    ['SQLITE', "SELECT load_extension('x')"],
    ['SQLITE', 'SELECT [load_extension](1)'],
    ['DUCKDB', "SELECT * FROM query('DROP TABLE t')"],
    ['MYSQL', 'SELECT 1 /*! INTO OUTFILE "x" */'],
    ['MYSQL', "SELECT load_file('/etc/passwd')"],
    ['MYSQL', 'SELECT `sleep`(9)'],
    ['MYSQL', "SELECT 'a\\'; ' ; DELETE FROM t -- '"],
    ['H2', "SELECT FILE_WRITE('x', 'y')"],
  ];

  it.each(ofDialect)('knows the tricks of %s: %s', (dialect, sql) => {
    expect(classifyProbe(dialect, sql).ok).toBe(false);
  });

  it.each<[Dialect, string]>([
    ['ORACLE', 'SELECT dbms_lob.substr(c, 100, 1), utl_raw.cast_to_varchar2(r) FROM utl_http'],
    ['POSTGRES', 'SELECT ts_rank(v, q), dblink.id FROM dblink'],
  ])('lets functions of %s pass that only compute, and names that are not called: %s', (dialect, sql) => {
    expect(classifyProbe(dialect, sql)).toEqual({ ok: true });
  });

  it.each(DIALECTS)('lets a query of %s hold such words in texts, comments and quoted names', (dialect) => {
    const name = dialect === 'MYSQL' ? '`update`' : '"update"';
    const sql = `-- drop\nWITH x AS (SELECT ${name}, 'DELETE; INTO' AS t FROM a) /* set */ SELECT count(*) FROM x;`;
    expect(classifyProbe(dialect, sql)).toEqual({ ok: true });
  });
});
