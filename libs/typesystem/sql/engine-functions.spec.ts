import { describe, expect, it } from '@jest/globals';
import { classifyStatement } from './statement-class.js';
import { refusedEngineFunction } from './engine-functions.js';

describe('functions that reach into the DuckDB engine', () => {
  it.each([
    `SELECT * FROM enable_logging('QueryLog', storage='file', storage_path='/tmp/x')`,
    `SELECT * FROM Enable_Logging ()`,
    `SELECT * FROM "enable_logging"('QueryLog')`,
    `SELECT * FROM system.main.enable_logging /* c */ ('QueryLog')`,
    `FROM duckdb_logs()`,
    `WITH x AS (SELECT * FROM query('FROM enable_logging()')) SELECT * FROM x`,
    `SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))`,
    `CREATE VIEW v AS SELECT * FROM checkpoint()`,
    `SELECT write_log('x')`,
  ])('are no statement of any class: %s', (sql) => {
    expect(refusedEngineFunction('DUCKDB', sql)).toBeDefined();
    expect(classifyStatement('DUCKDB', sql)).toMatchObject({ ok: true, class: 'OTHER' });
  });

  it.each([
    `SELECT query, checkpoint FROM t`,
    `SELECT 'enable_logging(' AS text -- query(1)`,
    `SELECT * FROM range(3)`,
    `SELECT log(2), strftime(d, '%Y') FROM t`,
  ])('are told from names, texts and comments: %s', (sql) => {
    expect(refusedEngineFunction('DUCKDB', sql)).toBeUndefined();
    expect(classifyStatement('DUCKDB', sql)).toMatchObject({ ok: true, class: 'DQL' });
  });

  it('mean nothing to other engines, whose authors may have functions of these names', () => {
    expect(refusedEngineFunction('POSTGRES', 'SELECT query(1)')).toBeUndefined();
  });
});
