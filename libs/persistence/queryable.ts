/**
 * SQL against the metadata database, with `$1` placeholders. Values arrive exact: json and jsonb as their text, int8,
 * numeric and date as text, timestamptz as `YYYY-MM-DDTHH:MM:SS.ffffffZ`, bytea as Buffer. A refused statement rejects
 * with `DatabaseFailure`; `constraintOf` tells which rule of the schema it broke.
 */
export interface Queryable {
  /** The rows of a SELECT or of RETURNING. */
  query<R>(sql: string, params?: readonly unknown[]): Promise<R[]>;
  /** Runs a statement for its effect; the number of rows it changed. */
  execute(sql: string, params?: readonly unknown[]): Promise<number>;
}

/** The handle of one open transaction; passed down explicitly to everything that writes in it. */
export interface Transaction extends Queryable {
  /** Runs after COMMIT, in order of registration, outside the transaction; never after a rollback. */
  afterCommit(work: () => void | Promise<void>): void;
}

export interface TransactionOptions {
  isolation?: 'READ COMMITTED' | 'REPEATABLE READ' | 'SERIALIZABLE';
  readOnly?: boolean;
  /** Longest wait for one lock, in milliseconds; then SQLSTATE 55P03. */
  lockTimeoutMs?: number;
  /** Longest run of one statement, in milliseconds; then SQLSTATE 57014. */
  statementTimeoutMs?: number;
}

export interface Transactional extends Queryable {
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
}
