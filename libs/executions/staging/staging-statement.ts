import {
  DuckDBBlobValue,
  DuckDBTypeId,
  ResultReturnType,
  StatementType,
  VARCHAR,
  type DuckDBPreparedStatement,
  type DuckDBType,
} from '@duckdb/node-api';
import { PenstockError } from '#libs/kernel';
import { classifyStatement, lexSql, significantTokens, type DriverValue, type StatementClass } from '#libs/typesystem';
import type { StagingConnection } from './staging-connection.js';

/** A statement for the staging engine: placeholders `$1…`, each inside its CAST, and the values for them. */
export interface StagingStatement {
  sql: string;
  values: readonly DriverValue[];
}

/** What a DQL will yield, known before it runs: labels as the author wrote them, and the engine's types. */
export interface PreparedColumn {
  label: string;
  type: DuckDBType;
}

const DESCRIBING = ['SHOW', 'DESCRIBE', 'DESC', 'SUMMARIZE'];
const DML_TYPES = [StatementType.INSERT, StatementType.UPDATE, StatementType.DELETE, StatementType.MERGE_INTO];
const DDL_TYPES = [StatementType.CREATE, StatementType.ALTER, StatementType.DROP, StatementType.DELETE];

/**
 * Statement discipline on the text that will run (contract 01 §2): one statement of the node's class. For a DQL the
 * engine's own parser decides; it refuses SET, COPY, ATTACH, PRAGMA and the like. The answer is the text to run:
 * SHOW, DESCRIBE and SUMMARIZE become a SELECT, since they cannot stand in CREATE TABLE AS.
 */
export async function disciplined(
  connection: StagingConnection,
  sql: string,
  expected: StatementClass,
  signal: AbortSignal,
): Promise<string> {
  const verdict = classifyStatement('DUCKDB', sql);
  if (!verdict.ok) throw refused(verdict.reason);
  if (verdict.class !== expected) throw refused('class');
  const text = withoutSemicolon(sql);
  if (expected !== 'DQL') {
    await refuseOtherType(connection, text, expected, signal);
    return text;
  }
  const query = DESCRIBING.includes(verdict.keyword) ? `SELECT * FROM (${text}\n)` : text;
  await refuseUnserialisable(connection, query, signal);
  return query;
}

async function refuseUnserialisable(connection: StagingConnection, sql: string, signal: AbortSignal): Promise<void> {
  const result = await connection.call(
    (native) =>
      native.run(
        `SELECT json_extract(json_serialize_sql(CAST($1 AS VARCHAR)), '$.error') = 'false'::JSON`,
        [sql],
        [VARCHAR],
      ),
    signal,
  );
  // A parse error is left to the run, which reports it with the engine's position; everything else is no query.
  if (result.getChunk(0).getColumnValues(0)[0] === true) return;
  const count = (await connection.call((native) => native.extractStatements(sql), signal)).count;
  throw refused(count === 1 ? 'class' : 'multiple_statements');
}

async function refuseOtherType(
  connection: StagingConnection,
  sql: string,
  expected: StatementClass,
  signal: AbortSignal,
) {
  const prepared = await connection.call((native) => native.prepare(sql), signal);
  const { statementType } = prepared;
  prepared.destroySync();
  if (!(expected === 'DML' ? DML_TYPES : DDL_TYPES).includes(statementType)) throw refused('class');
}

function refused(why: string): PenstockError {
  return new PenstockError('pipeline.node.query_execution_failed', {
    message: 'The rendered text is not one statement of the kind the node declares.',
    details: { reason: 'statement_type', statement: why },
  });
}

/** A `;` at the end is legal for an author; inside CREATE TABLE AS it is not. The text holds one statement. */
export function withoutSemicolon(sql: string): string {
  const last = significantTokens(lexSql('DUCKDB', sql)).at(-1);
  return last?.text === ';' ? `${sql.slice(0, last.start)} ${sql.slice(last.end)}` : sql;
}

/** Labels and types of a query, from the prepared statement: CREATE TABLE AS would rename `a, a` to `a, a_1`. */
export async function describeQuery(
  connection: StagingConnection,
  statement: StagingStatement,
  signal: AbortSignal,
): Promise<PreparedColumn[]> {
  const prepared = await connection.call((native) => native.prepare(statement.sql), signal);
  try {
    return Array.from({ length: prepared.columnCount }, (_, ordinal) => ({
      label: prepared.columnName(ordinal),
      type: prepared.columnType(ordinal),
    }));
  } finally {
    prepared.destroySync();
  }
}

/**
 * Runs a statement with its values; the single number a CREATE TABLE AS or DML answers with, else 0. A RETURNING answers
 * with the rows themselves, which may look the same.
 */
export async function runCounted(
  connection: StagingConnection,
  statement: StagingStatement,
  signal: AbortSignal,
): Promise<number> {
  const result = await connection.call(async (native) => {
    const prepared = await native.prepare(statement.sql);
    try {
      bind(prepared, statement.values);
      return await prepared.run();
    } finally {
      prepared.destroySync();
    }
  }, signal);
  if (result.returnType === ResultReturnType.QUERY_RESULT) return result.rowCount;
  if (result.rowCount !== 1 || result.columnCount !== 1 || result.columnTypeId(0) !== DuckDBTypeId.BIGINT) return 0;
  return Number(result.getChunk(0).getColumnValues(0)[0]);
}

function bind(prepared: DuckDBPreparedStatement, values: readonly DriverValue[]): void {
  if (values.length === 0) return;
  prepared.bind(values.map((value) => (value instanceof Uint8Array ? new DuckDBBlobValue(value) : value)));
}
