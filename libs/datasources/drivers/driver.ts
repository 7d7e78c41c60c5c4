import type { Column, ColumnBatch, Dialect } from '#libs/typesystem';

export type Access = 'read' | 'write';

/** How one piece of work ends before its own end. */
export interface WorkOptions {
  signal: AbortSignal;
  /**
   * Milliseconds after which the server itself gives the statement up, where it can: a backstop for the case that this
   * process is gone and nobody cancels any more (02 §5.1). Absent = none.
   */
  backstopMs?: number;
}

export interface ReadOptions extends WorkOptions {
  /** Rows per fetch, at most 2,048; a batch may hold those of more than one. */
  fetchSize: number;
}

/** SQL with the engine's own placeholders and the values in their order (01 §4.4). */
export interface BoundStatement {
  sql: string;
  values: readonly unknown[];
  /** The driver's own name of each value's type, where its protocol states one; absent for the driver's own queries. */
  driverTypes?: readonly string[];
}

/** Something about a result's types a reader must know; shown beside the rows (01 §6). */
export interface MappingWarning {
  code: 'type_mapping.unknown_source_type' | 'type_mapping.value_unrepresentable' | 'type_mapping.sql_variant';
  column: string;
  source_type?: string;
  count?: number;
}

/**
 * A streaming read. `next` gives a batch of at most 2,048 rows, which is the caller's until it asks for the next one: its
 * vectors may be filled again. It gives null at a clean end only: a stream that was cut, killed
 * or cancelled rejects (02 §5.2). `warnings` is complete once `next` gave null. `close` is idempotent and never rejects.
 */
export interface Cursor {
  readonly columns: readonly Column[];
  readonly warnings: readonly MappingWarning[];
  next(signal: AbortSignal): Promise<ColumnBatch | null>;
  close(): Promise<void>;
}

/** One write-back transaction on a target table. After `commit` or `rollback` nothing else may be called (02 §5.4). */
export interface TableWriter {
  write(batch: ColumnBatch): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

export interface WriteTarget {
  /** A table name, or dotted `schema.table`; each part is quoted. */
  table: string;
  mode: 'replace' | 'append';
  columns: readonly Column[];
  /** Rows per INSERT statement, cut to the engine's limit of binds. */
  batchRows: number;
}

/** One connection to a datasource as the pool holds it. Its methods reject with DriverFailure or PenstockError. */
export interface DriverConnection {
  /** What it may be leased for; the lease itself refuses writes it was not taken for. */
  readonly serves: Access | 'both';
  /** False once it must not be handed out again: cancelled, killed, out of step. */
  readonly usable: boolean;
  /** DQL, in a read-only transaction where the engine has one. */
  openCursor(statement: BoundStatement, options: ReadOptions): Promise<Cursor>;
  /** One DML or DDL statement, autocommit. */
  execute(statement: BoundStatement, options: WorkOptions): Promise<number>;
  beginWrite(target: WriteTarget, options: WorkOptions): Promise<TableWriter>;
  /** All rows of the driver's own catalog query as text, read-only and rolled back. */
  catalog(statement: BoundStatement, signal: AbortSignal): Promise<(string | null)[][]>;
  /** A round trip to the engine; rejects when it does not answer within the time. */
  ping(timeoutMs: number): Promise<void>;
  /** Ends any transaction and gives the session back its first state. False: close it instead. */
  reset(): Promise<boolean>;
  /** Says goodbye. Never rejects. */
  close(): Promise<void>;
  /** Cuts the connection at once; work in flight rejects. */
  destroy(): void;
}

/** Where a dialect's catalog puts its tables (06 §8). */
export interface NamespaceShape {
  readonly labels: readonly string[];
  readonly levels: number;
}

/** What a pipeline node holds while it works on a datasource. `release` is idempotent and never rejects. */
export interface Lease {
  readonly dialect: Dialect;
  openCursor(statement: BoundStatement, options: ReadOptions): Promise<Cursor>;
  /** Rows affected; 0 for DDL. @throws `pipeline.node.datasource_readonly` on a lease taken for reading */
  execute(statement: BoundStatement, options: WorkOptions): Promise<number>;
  beginWrite(target: WriteTarget, options: WorkOptions): Promise<TableWriter>;
  release(outcome?: 'ok' | 'destroy'): Promise<void>;
}
