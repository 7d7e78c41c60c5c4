import type { Writable } from 'node:stream';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { PenstockError, readingScope } from '#libs/kernel';
import { Cancellation } from './cancellation.js';
import { DatabaseFailure, databaseFailure, isConnectionFailure } from './database-failure.js';
import { PreparedStatements } from './prepared-statements.js';
import type { Transaction, Transactional, TransactionOptions } from './queryable.js';
import { rawTextTypes } from './raw-text-types.js';
import { ReadsTogether, type GatheredRead } from './reads-together.js';
import { requireUtc, requireVersion, SESSION_FACTS, type SessionFacts } from './server-requirements.js';
import { inTransactionScope } from './transaction-scope.js';

export interface PoolOptions {
  url: string;
  applicationName: string;
  /** Upper bound of connections. */
  max: number;
  /** Longest wait for a free connection or for the server to accept one, in milliseconds. */
  connectTimeoutMs: number;
  /**
   * Longest wait for one answer, in milliseconds; absent = none. Then the connection counts as lost, and nothing is known
   * of what the statement did: a server that stands still, or a network that swallows packets, says nothing by itself.
   */
  answerTimeoutMs?: number;
  entities: readonly (new () => object)[];
  /**
   * Ends the statement that a backend runs, on a connection of another pool; false = the server has no such backend.
   * Absent = statements run to their end.
   */
  cancelBackend?: (pid: number) => Promise<boolean>;
  /** Told about what must not fail the caller: a broken idle connection, work after COMMIT that threw. */
  onProblem: (what: string, error: unknown) => void;
}

type AfterCommit = (() => void | Promise<void>)[];

/** The server changed the result's columns under a prepared statement (SQLSTATE feature_not_supported). */
const STALE_PLAN = '0A000';

/** What pg's types leave out of its client. */
interface Wire {
  /** Whether statements are sent before the ones ahead of them are answered. */
  pipeline: boolean;
  connection: { stream: Writable };
}

/** One TypeORM data source and the two ways to use it: single statements, and transactions on one connection. */
export class ConnectionPool implements Transactional {
  readonly #source: DataSource;
  readonly #pool: pg.Pool;
  readonly #statements = new PreparedStatements();
  /** Absent where nothing can be cancelled. */
  readonly #together: ReadsTogether | undefined;
  readonly #onProblem: PoolOptions['onProblem'];
  readonly #cancellation: Cancellation | undefined;
  /** Connections that broke, also while they were lent. */
  readonly #broken: WeakSet<pg.PoolClient>;

  private constructor(source: DataSource, { onProblem, cancelBackend }: PoolOptions, broken: WeakSet<pg.PoolClient>) {
    this.#source = source;
    this.#pool = (source.driver as unknown as { master: pg.Pool }).master;
    this.#broken = broken;
    this.#onProblem = onProblem;
    if (!cancelBackend) return;
    const cancellation = new Cancellation(cancelBackend, onProblem);
    this.#cancellation = cancellation;
    this.#together = new ReadsTogether((reads, signal) => this.#runTogether(cancellation, reads, signal));
  }

  static async open(options: PoolOptions): Promise<ConnectionPool> {
    const broken = new WeakSet<pg.PoolClient>();
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
        // A new connection may break before whoever waits for it can listen, and an error nobody hears ends the process.
        // The statement that follows fails and tells. The first is made here, before the pool can be listened to.
        onConnect: (client: pg.PoolClient) => void client.on('error', () => broken.add(client)),
        ...(options.answerTimeoutMs === undefined ? {} : { query_timeout: options.answerTimeoutMs }),
        options: '-c TimeZone=UTC -c DateStyle=ISO,YMD -c IntervalStyle=iso_8601',
      },
    });
    try {
      await source.initialize();
    } catch (error) {
      throw databaseFailure(error, 'connect');
    }
    const pool = new ConnectionPool(source, options, broken);
    try {
      await pool.#requireSuitableServer();
    } catch (error) {
      await pool.close();
      throw error;
    }
    return pool;
  }

  /** For what must see the entities' metadata, such as the test that compares them with the live catalog. */
  get dataSource(): DataSource {
    return this.#source;
  }

  async query<R>(sql: string, params: readonly unknown[] = []): Promise<R[]> {
    const scope = readingScope();
    const { rows } =
      scope?.together && this.#together
        ? await this.#together.read(scope.wantedUntil, sql, params)
        : await this.#runAlone(sql, params, scope?.wantedUntil);
    return rows as R[];
  }

  async execute(sql: string, params: readonly unknown[] = []): Promise<number> {
    return (await this.#runAlone(sql, params)).rowCount ?? 0;
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const afterCommit: AfterCommit = [];
    const result = await this.#onConnection(async (client) => {
      await this.#begin(client, options);
      try {
        const value = await inTransactionScope(() => work(this.#transactionOn(client, afterCommit)));
        await this.#commit(client);
        return value;
      } catch (error) {
        await this.#rollback(client);
        throw error;
      }
    });
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

  async #requireSuitableServer(): Promise<void> {
    const [facts] = await this.query<SessionFacts>(SESSION_FACTS);
    if (!facts) return;
    requireVersion(facts);
    requireUtc(facts);
  }

  /** Lends a connection; one that broke meanwhile is not returned to the pool. */
  async #onConnection<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    let client: pg.PoolClient;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      throw databaseFailure(error, 'connect');
    }
    let broken = false;
    try {
      return await work(client);
    } catch (error) {
      broken = isConnectionFailure(error);
      throw error;
    } finally {
      client.release(broken || this.#broken.has(client));
    }
  }

  #transactionOn(client: pg.PoolClient, afterCommit: AfterCommit): Transaction {
    return {
      query: async <R>(sql: string, params: readonly unknown[] = []) =>
        (await this.#run(client, sql, params)).rows as R[],
      execute: async (sql, params = []) => (await this.#run(client, sql, params)).rowCount ?? 0,
      afterCommit: (work) => void afterCommit.push(work),
    };
  }

  async #begin(client: pg.PoolClient, options: TransactionOptions): Promise<void> {
    const isolation = options.isolation ?? 'READ COMMITTED';
    const limits = [
      limit('lock_timeout', options.lockTimeoutMs),
      limit('statement_timeout', options.statementTimeoutMs),
    ].join('');
    await this.#run(client, `BEGIN ISOLATION LEVEL ${isolation}${options.readOnly ? ' READ ONLY' : ''}${limits}`);
  }

  /** PostgreSQL answers COMMIT of a failed transaction with ROLLBACK and no error: what was written would be lost unseen. */
  async #commit(client: pg.PoolClient): Promise<void> {
    const { command } = await this.#run(client, 'COMMIT');
    if (command !== 'COMMIT') {
      throw new PenstockError('internal', {
        message: 'The transaction did not commit: one of its statements had failed, and the failure was not passed on.',
      });
    }
  }

  /** A rollback that fails means the connection is gone, and with it the transaction: the first error is the one to tell. */
  async #rollback(client: pg.PoolClient): Promise<void> {
    try {
      await this.#run(client, 'ROLLBACK');
    } catch (error) {
      this.#onProblem('A rollback did not reach the metadata database.', error);
    }
  }

  async #runAlone(sql: string, params: readonly unknown[], signal?: AbortSignal): Promise<pg.QueryResult> {
    return this.#onConnection((client) => {
      signal?.throwIfAborted();
      if (!signal || !this.#cancellation) return this.#runAgain(client, sql, params);
      return this.#cancellation.while(client, signal, () => this.#runAgain(client, sql, params));
    });
  }

  /** Each read gets its own answer; none is lost because one of them failed. */
  async #runTogether(cancellation: Cancellation, reads: readonly GatheredRead[], signal: AbortSignal): Promise<void> {
    try {
      await this.#onConnection((client) => {
        signal.throwIfAborted();
        return cancellation.while(client, signal, () => this.#pipelined(client, reads, signal));
      });
    } catch (error) {
      // Those that have their answer already do not hear of it.
      for (const { reject } of reads) reject(error);
    }
  }

  /** @throws the failure of the connection itself, and the cancellation, which belong to all of them */
  async #pipelined(client: pg.PoolClient, reads: readonly GatheredRead[], signal: AbortSignal): Promise<void> {
    const wire = client as unknown as Wire;
    const { stream } = wire.connection;
    wire.pipeline = true;
    stream.cork();
    const running = reads.map(({ sql, params }) => this.#runAgain(client, sql, params));
    stream.uncork();
    const outcomes = await Promise.allSettled(running);
    wire.pipeline = false;
    const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    const common = failures.find((error) => signal.aborted || isConnectionFailure(error));
    if (common !== undefined) throw common as Error;
    outcomes.forEach((outcome, index) => {
      if (outcome.status === 'fulfilled') reads[index]?.resolve(outcome.value);
      else reads[index]?.reject(outcome.reason);
    });
  }

  /** Outside a transaction a statement that met a migration is simply run again, under a new name. */
  async #runAgain(client: pg.PoolClient, sql: string, params: readonly unknown[]): Promise<pg.QueryResult> {
    try {
      return await this.#run(client, sql, params);
    } catch (error) {
      if (!isStalePlan(error)) throw error;
      return this.#run(client, sql, params);
    }
  }

  async #run(client: pg.PoolClient, sql: string, params: readonly unknown[] = []): Promise<pg.QueryResult> {
    const name = params.length > 0 ? this.#statements.nameOf(sql) : undefined;
    try {
      return await client.query({ text: sql, values: [...params], ...(name ? { name } : {}) });
    } catch (error) {
      const failure = databaseFailure(error, sql);
      if (name && isStalePlan(failure)) this.#statements.forgetAll();
      throw failure;
    }
  }
}

function isStalePlan(error: unknown): boolean {
  return error instanceof DatabaseFailure && error.code === STALE_PLAN;
}

/** Sent along with BEGIN, to save a round trip each. */
function limit(setting: string, milliseconds: number | undefined): string {
  return milliseconds === undefined ? '' : `; SET LOCAL ${setting} = ${Math.max(1, Math.ceil(milliseconds))}`;
}
