import { DuckDBBlobValue, type DuckDBConnection, type DuckDBPreparedStatement } from '@duckdb/node-api';

import { lexSql, significantTokens } from '#libs/typesystem';

import { DriverFailure } from '../driver-failure.js';
import type { BoundStatement } from '../driver.js';

/** A `;` at the end is legal for an author; inside another statement it is not. */
export function withoutSemicolon(sql: string): string {
  const last = significantTokens(lexSql('DUCKDB', sql)).at(-1);
  return last?.text === ';' ? `${sql.slice(0, last.start)} ${sql.slice(last.end)}` : sql;
}

/** Prepares exactly one statement; the engine's own parser counts. */
export async function prepareOne(connection: DuckDBConnection, sql: string): Promise<DuckDBPreparedStatement> {
  const statements = await connection.extractStatements(sql);
  if (statements.count !== 1) {
    throw new DriverFailure('other', 'The text must hold exactly one statement.', { reason: 'multiple_statements' });
  }
  return await statements.prepare(0);
}

/** Values travel as text inside the casts of the statement, bytes as BLOB (01 §4.4). */
export function bindValues(prepared: DuckDBPreparedStatement, values: BoundStatement['values']): void {
  values.forEach((value, index) => {
    const position = index + 1;
    if (value === null || value === undefined) prepared.bindNull(position);
    else if (value instanceof Uint8Array) prepared.bindValue(position, new DuckDBBlobValue(value));
    else if (typeof value === 'bigint') prepared.bindHugeInt(position, value);
    else if (typeof value === 'boolean') prepared.bindBoolean(position, value);
    else if (typeof value === 'number') prepared.bindDouble(position, value);
    else if (typeof value === 'string') prepared.bindVarchar(position, value);
    else throw new TypeError('a bound value must be text, bytes, a number or a boolean');
  });
}
