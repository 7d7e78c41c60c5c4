import pg from 'pg';
import { DataSource, type EntitySchema, type QueryRunner } from 'typeorm';
import { databaseFailure } from './database-failure.js';
import type { Transaction, Transactional, TransactionOptions } from './queryable.js';
import { rawTextTypes } from './raw-text-types.js';
import { inTransactionScope } from './transaction-scope.js';

export interface PoolOptions {
  url: string;
  applicationName: string;
  /** Upper bound of connections. */
  max: number;
  /** Longest wait for a free connection or for the server to accept one, in milliseconds. */
  connectTimeoutMs: number;
  entities: readonly (Function | EntitySchema)[];
  /** Told about what must not fail the caller: a broken idle connection, work after COMMIT that threw. */
  onProblem: (what: string, error: unknown) => void;
}

/** One TypeORM data source and the two ways to use it: single statements, and transactions on one connection. */
export class ConnectionPool implements Transactional {
  readonly #source: DataSource;
  readonly #onProblem: PoolOptions['onProblem'];

  private constructor(source: DataSource, onProblem: PoolOptions['onProblem']) {
    this.#source = source;
    this.#onProblem = onProblem;
  }

  static async open(options: PoolOptions): Promise<ConnectionPool> {
    const source = new DataSource({
      type: 'postgres',
      driver: pg,
      url: options.url,
      applicationName: options.applicationName,
      poolSize: options.max,
      connectTimeoutMS: options.connectTimeoutMs,
      entities: [...options.entities],
      synchronize: false,
      migrationsRun: false,
      installExtensions: false,
      logging: false,
      poolErrorHandler: (error: unknown) => options.onProblem('A metadata database connection broke.', error),
      extra: {
        types: rawTextTypes,
        keepAlive: true,
        options: '-c TimeZone=UTC -c DateStyle=ISO,YMD -c IntervalStyle=iso_8601',
      },
    });
    try {
      await source.initialize();
    } catch (error) {
      throw databaseFailure(error, 'connect');
    }
    return new ConnectionPool(source, options.onProblem);
  }

  /** For what must see the entities' metadata, such as the test that compares them with the live catalog. */
  get dataSource(): DataSource {
    return this.#source;
  }

  async query<R>(sql: string, params: readonly unknown[] = []): Promise<R[]> {
    return this.#once((runner) => rows<R>(runner, sql, params));
  }

  async execute(sql: string, params: readonly unknown[] = []): Promise<number> {
    return this.#once((runner) => affected(runner, sql, params));
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const runner = this.#source.createQueryRunner();
    const afterCommit: (() => void | Promise<void>)[] = [];
    let result: T;
    try {
      await begin(runner, options);
      try {
        result = await inTransactionScope(() => work(transactionOn(runner, afterCommit)));
        await statement(runner, 'COMMIT');
      } catch (error) {
        await this.#rollback(runner);
        throw error;
      }
    } finally {
      await runner.release();
    }
    for (const task of afterCommit) {
      try {
        await task();
      } catch (error) {
        this.#onProblem('Work after a commit failed.', error);
      }
    }
    return result;
  }

  async close(): Promise<void> {
    if (this.#source.isInitialized) await this.#source.destroy();
  }

  async #once<T>(work: (runner: QueryRunner) => Promise<T>): Promise<T> {
    const runner = this.#source.createQueryRunner();
    try {
      return await work(runner);
    } finally {
      await runner.release();
    }
  }

  /** A rollback that fails means the connection is gone, and with it the transaction: the first error is the one to tell. */
  async #rollback(runner: QueryRunner): Promise<void> {
    try {
      await statement(runner, 'ROLLBACK');
    } catch (error) {
      this.#onProblem('A rollback did not reach the metadata database.', error);
    }
  }
}

function transactionOn(runner: QueryRunner, afterCommit: (() => void | Promise<void>)[]): Transaction {
  return {
    query: <R>(sql: string, params: readonly unknown[] = []) => rows<R>(runner, sql, params),
    execute: (sql, params = []) => affected(runner, sql, params),
    afterCommit: (work) => void afterCommit.push(work),
  };
}

async function begin(runner: QueryRunner, options: TransactionOptions): Promise<void> {
  const isolation = options.isolation ?? 'READ COMMITTED';
  await statement(runner, `BEGIN ISOLATION LEVEL ${isolation}${options.readOnly ? ' READ ONLY' : ''}`);
  if (options.lockTimeoutMs !== undefined) await limit(runner, 'lock_timeout', options.lockTimeoutMs);
  if (options.statementTimeoutMs !== undefined) await limit(runner, 'statement_timeout', options.statementTimeoutMs);
}

async function limit(runner: QueryRunner, setting: string, milliseconds: number): Promise<void> {
  await statement(runner, 'SELECT set_config($1, $2, TRUE)', [setting, String(Math.max(1, Math.ceil(milliseconds)))]);
}

async function rows<R>(runner: QueryRunner, sql: string, params: readonly unknown[]): Promise<R[]> {
  return ((await statement(runner, sql, params)).records ?? []) as R[];
}

async function affected(runner: QueryRunner, sql: string, params: readonly unknown[]): Promise<number> {
  return (await statement(runner, sql, params)).affected ?? 0;
}

async function statement(runner: QueryRunner, sql: string, params: readonly unknown[] = []) {
  try {
    return await runner.query(sql, [...params], true);
  } catch (error) {
    throw databaseFailure(error, sql);
  }
}
