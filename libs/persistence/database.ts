import { ConnectionPool } from './connection-pool.js';
import { entities } from './entities/index.js';
import type { Transaction, Transactional, TransactionOptions } from './queryable.js';
import { isInTransactionScope } from './transaction-scope.js';

const CONTROL_CONNECTIONS = 2;
/** Two statements without an answer would hold both, and with them every heartbeat and end of a run. */
const CONTROL_ANSWER_MS = 15_000;

export interface DatabaseOptions {
  url: string;
  /** Connections for everything but heartbeats and terminal writes; `datapipelines.metadata-db.pool-max`. */
  poolMax?: number;
  /** Longest wait for a connection, in milliseconds. */
  connectTimeoutMs?: number;
  /** Told about what must not fail a caller: broken idle connections, failed work after a commit. */
  onProblem?: (what: string, error: unknown) => void;
}

/** The metadata database. One per process; repositories receive it, or the transaction they take part in. */
export class Database implements Transactional {
  readonly #main: ConnectionPool;
  readonly #control: ConnectionPool;

  private constructor(main: ConnectionPool, control: ConnectionPool) {
    this.#main = main;
    this.#control = control;
  }

  static async open(options: DatabaseOptions): Promise<Database> {
    const shared = {
      url: options.url,
      connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
      onProblem: options.onProblem ?? (() => undefined),
    };
    const control = await ConnectionPool.open({
      ...shared,
      applicationName: 'penstock control',
      max: CONTROL_CONNECTIONS,
      answerTimeoutMs: CONTROL_ANSWER_MS,
      entities: [],
    });
    try {
      const main = await ConnectionPool.open({
        ...shared,
        applicationName: 'penstock',
        max: options.poolMax ?? 10,
        entities,
        cancelBackend: async (pid) => {
          const [row] = await control.query<{ sent: boolean }>('SELECT pg_cancel_backend($1::int) AS sent', [pid]);
          return row?.sent === true;
        },
      });
      return new Database(main, control);
    } catch (error) {
      await control.close();
      throw error;
    }
  }

  /** Two connections of their own for heartbeats and terminal writes, which API traffic cannot exhaust (00 §2). */
  get control(): Transactional {
    return this.#control;
  }

  get dataSource() {
    return this.#main.dataSource;
  }

  query<R>(sql: string, params?: readonly unknown[]): Promise<R[]> {
    return this.#main.query<R>(sql, params);
  }

  execute(sql: string, params?: readonly unknown[]): Promise<number> {
    return this.#main.execute(sql, params);
  }

  /** Commits when `work` resolves, rolls back when it rejects; READ COMMITTED unless asked otherwise. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#main.transaction(work, options);
  }

  /** Whether the caller runs inside an open transaction; a datasource must not be leased there (`datasource.lease_in_transaction`). */
  isInTransaction(): boolean {
    return isInTransactionScope();
  }

  async close(): Promise<void> {
    await Promise.all([this.#main.close(), this.#control.close()]);
  }
}
