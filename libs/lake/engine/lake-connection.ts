import type { DuckDBConnection } from '@duckdb/node-api';

import {
  DriverFailure,
  DuckdbConnection,
  type BoundStatement,
  type Cursor,
  type NativeCalls,
  type TableWriter,
} from '#libs/datasources';
import { PenstockError } from '#libs/kernel';
import { refusedEngineFunction } from '#libs/typesystem';

import { dottedNames } from './named-tables.js';
import type { LakeEngine } from './lake-engine.js';

/** Of a table's name in SQL: database, schema, table. */
const MOST_PARTS = 3;

/** One session of a lake's engine: it reads, and tells which table of a query is broken. */
export class LakeConnection extends DuckdbConnection {
  readonly #engine: LakeEngine;

  constructor(native: DuckDBConnection, calls: NativeCalls, engine: LakeEngine, onClose: () => void) {
    super(native, calls, onClose);
    this.#engine = engine;
  }

  /** A session of an engine that has been replaced would read yesterday's files. */
  override get usable(): boolean {
    return super.usable && !this.#engine.superseded;
  }

  /** @throws 502 `datasource.lake.table_unavailable` before anything runs, when the query names a broken table */
  override async openCursor(
    statement: BoundStatement,
    options: { fetchSize: number; signal: AbortSignal },
  ): Promise<Cursor> {
    const word = refusedEngineFunction('LAKE', statement.sql);
    if (word !== undefined)
      throw new DriverFailure('other', `The function ${word} is not for queries.`, { reason: 'engine_function' });
    try {
      return await super.openCursor(statement, options);
    } catch (error) {
      throw await this.#explained(error, statement.sql);
    }
  }

  override execute(): Promise<number> {
    return Promise.reject(readOnly());
  }

  override beginWrite(): Promise<TableWriter> {
    return Promise.reject(readOnly());
  }

  async #explained(error: unknown, sql: string): Promise<unknown> {
    if (!(error instanceof DriverFailure)) return error;
    if (error.reason === 'not_a_query') {
      return new DriverFailure('other', 'A lake is read by one SELECT at a time.', {
        reason: 'not_select',
        cause: error,
      });
    }
    // A file that went is an IO error in a pattern, and for a plain name whatever the engine tried instead of it.
    if (error.driverCode === 'IO') this.#engine.suspected();
    else if (error.kind === 'permission') await this.#engine.suspectedIfFilesWent();
    const missing = error.kind === 'missing_table' || error.driverCode === 'Catalog';
    if (!missing && error.driverCode !== 'Parser') return error;
    // A name of more parts than it knows the engine cannot even parse.
    const broken = [...this.#engine.brokenTables()].filter(
      ([table]) => missing || table.split('.').length > MOST_PARTS,
    );
    if (broken.length === 0) return error;
    const named = dottedNames(sql);
    const found = broken.find(([table]) => named.some((name) => isNamed(table, name)));
    if (!found) return error;
    const [table, lastError] = found;
    return new PenstockError('datasource.lake.table_unavailable', {
      message: `The lake table "${table}" cannot be read now: ${lastError}`,
      details: { table, last_error: lastError },
      cause: error,
    });
  }
}

/** `orders`, `sales.orders` and `memory.sales.orders` all name the table `sales.orders`. */
function isNamed(table: string, parts: readonly string[]): boolean {
  const name = parts.join('.').toLowerCase();
  return name === table || table.endsWith(`.${name}`) || name === `memory.${table}`;
}

function readOnly(): PenstockError {
  return new PenstockError('pipeline.node.datasource_readonly', {
    message: 'A lake is read in place and never written.',
  });
}
