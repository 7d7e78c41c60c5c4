import { describe, expect, it } from '@jest/globals';
import { DIALECTS, type Dialect } from '../canonical-type.js';
import { classifyStatement } from './statement-class.js';

describe('statement discipline', () => {
  it.each<[Dialect, string, string, string]>([
    ['POSTGRES', 'select 1', 'DQL', 'SELECT'],
    ['POSTGRES', ' -- c\n/* d */ SELECT 1 ; -- e', 'DQL', 'SELECT'],
    ['POSTGRES', '((SELECT 1) UNION (SELECT 2))', 'DQL', 'SELECT'],
    ['POSTGRES', 'VALUES (1)', 'DQL', 'VALUES'],
    ['POSTGRES', 'SHOW timezone', 'DQL', 'SHOW'],
    ['MYSQL', 'DESC t', 'DQL', 'DESC'],
    ['POSTGRES', 'SELECT \';\', $$;$$, ";" /* ; */', 'DQL', 'SELECT'],
    ['POSTGRES', 'WITH a AS (SELECT 1), b (x, y) AS NOT MATERIALIZED (SELECT 2) SELECT * FROM a', 'DQL', 'SELECT'],
    ['POSTGRES', 'WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a', 'DML', 'INSERT'],
    ['POSTGRES', 'WITH a AS (SELECT 1) DELETE FROM t', 'DML', 'DELETE'],
    ['POSTGRES', 'WITH delete AS (SELECT 1) SELECT * FROM delete', 'DQL', 'SELECT'],
    ['POSTGRES', 'WITH "a" AS (SELECT 1) (SELECT 2)', 'DQL', 'SELECT'],
    [
      'POSTGRES',
      'WITH RECURSIVE t(n) AS (SELECT 1) SEARCH DEPTH FIRST BY n, n SET o CYCLE n SET c TO 1 DEFAULT 0 USING p, u AS (SELECT 2) UPDATE t SET n = 1',
      'DML',
      'UPDATE',
    ],
    ['POSTGRES', 'WITH a AS (WITH b AS (SELECT 1) SELECT * FROM b) MERGE INTO t USING a ON true', 'DML', 'MERGE'],
    ['SQLITE', 'REPLACE INTO t VALUES (1)', 'DML', 'REPLACE'],
    ['POSTGRES', 'CREATE TABLE t AS SELECT 1', 'DDL', 'CREATE'],
    ['POSTGRES', 'COMMENT ON TABLE t IS $$x$$', 'DDL', 'COMMENT'],
    ['POSTGRES', 'TRUNCATE t', 'DDL', 'TRUNCATE'],
    ['DUCKDB', 'FROM t', 'DQL', 'FROM'],
    ['DUCKDB', 'UNPIVOT t ON a, b INTO NAME n VALUE v', 'DQL', 'UNPIVOT'],
    ['DUCKDB', 'WITH t(a) USING KEY (a) AS (SELECT 1) FROM t', 'DQL', 'FROM'],
    ['POSTGRES', 'FROM t', 'OTHER', 'FROM'],
    ['POSTGRES', 'SET x = 1', 'OTHER', 'SET'],
    ['POSTGRES', 'COPY t TO STDOUT', 'OTHER', 'COPY'],
    ['POSTGRES', 'EXPLAIN ANALYZE DELETE FROM t', 'OTHER', 'EXPLAIN'],
    ['POSTGRES', 'BEGIN', 'OTHER', 'BEGIN'],
    ['POSTGRES', '"SELECT" 1', 'OTHER', ''],
    ['POSTGRES', "'SELECT'", 'OTHER', ''],
    ['POSTGRES', 'SELECT\u00a01', 'OTHER', 'SELECT\u00a01'],
    ['POSTGRES', 'WITH', 'OTHER', ''],
    ['POSTGRES', 'WITH a AS', 'OTHER', ''],
    ['POSTGRES', 'WITH a AS (SELECT 1', 'OTHER', ''],
    ['MSSQL', 'SELECT * INTO t FROM u', 'OTHER', 'INTO'],
    ['MYSQL', "SELECT 1 INTO OUTFILE '/tmp/x'", 'OTHER', 'INTO'],
    ['MYSQL', "(SELECT 1 INTO OUTFILE '/tmp/x')", 'OTHER', 'INTO'],
    ['MYSQL', "SELECT 1 UNION ALL (SELECT 2 INTO OUTFILE '/tmp/x')", 'OTHER', 'INTO'],
    ['MYSQL', "SELECT 1 /*! INTO OUTFILE '/tmp/x' */", 'OTHER', '/*!'],
    ['MYSQL', 'SELECT 1 /*M!100000 + 1 */', 'OTHER', '/*!'],
    ['POSTGRES', 'WITH a AS (INSERT INTO t VALUES (1) RETURNING x) SELECT * FROM a', 'DQL', 'SELECT'],
    ['POSTGRES', 'SELECT t.into FROM t', 'DQL', 'SELECT'],
    ['POSTGRES', 'INSERT INTO t VALUES (1)', 'DML', 'INSERT'],
  ])('%s %s is %s by %s', (dialect, sql, statementClass, keyword) => {
    expect(classifyStatement(dialect, sql)).toEqual({ ok: true, class: statementClass, keyword });
  });

  it.each<[string, string]>([
    ['', 'empty'],
    [' -- only a comment', 'empty'],
    [';', 'empty'],
    ['SELECT 1; SELECT 2', 'multiple_statements'],
    ['SELECT 1;;', 'multiple_statements'],
    ['; SELECT 1', 'multiple_statements'],
    ["SELECT 'a'; DROP TABLE t; -- '", 'multiple_statements'],
    ["SELECT 'a", 'unterminated'],
    ['SELECT 1 /* ', 'unterminated'],
  ])('%j is refused: %s', (sql, reason) => {
    for (const dialect of DIALECTS) expect(classifyStatement(dialect, sql)).toEqual({ ok: false, reason });
  });

  it('sees a second statement that another dialect would take for a literal', () => {
    const sql = "SELECT '\\'; DROP TABLE t; --'";
    expect(classifyStatement('POSTGRES', sql)).toEqual({ ok: false, reason: 'multiple_statements' });
    expect(classifyStatement('MYSQL', sql)).toEqual({ ok: true, class: 'DQL', keyword: 'SELECT' });
  });
});
