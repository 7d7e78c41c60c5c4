/** A database type of the library; `columnTypeName` is the engine's own word, without sizes. */
export interface DbType {
  readonly columnTypeName: string;
}

/** One column of a statement as the library describes it. */
export interface ColumnMetadata {
  readonly name: string;
  readonly dbTypeName: string;
  readonly dbType?: DbType;
  readonly precision?: number;
  readonly scale?: number;
  readonly nullable?: boolean;
}

export interface ResultSet {
  /** At most so many rows; none at the end. */
  getRows(rows: number): Promise<unknown[][]>;
  close(): Promise<void>;
}

export interface ExecuteResult {
  metaData?: readonly ColumnMetadata[];
  resultSet?: ResultSet;
  rows?: unknown[][];
  rowsAffected?: number;
}

export interface BindValue {
  type: unknown;
  val: unknown;
}

/** The parts of `oracledb`'s connection this driver uses. */
export interface RawConnection {
  execute(
    sql: string,
    binds: Readonly<Record<string, BindValue>>,
    options: Readonly<Record<string, unknown>>,
  ): Promise<ExecuteResult>;
  executeMany(
    sql: string,
    rows: readonly (readonly unknown[])[],
    options: Readonly<Record<string, unknown>>,
  ): Promise<ExecuteResult>;
  /** Parses a statement without running it. */
  getStatementInfo(sql: string): Promise<{ metaData?: readonly ColumnMetadata[] }>;
  /** Asks the server to stop what is under way. */
  breakExecution(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  ping(): Promise<void>;
  close(options?: { drop?: boolean }): Promise<void>;
}

export interface OracleLibrary {
  readonly OUT_FORMAT_ARRAY: number;
  /** Constants by name: `DB_TYPE_NUMBER`, `DB_TYPE_VARCHAR` … */
  readonly types: Readonly<Record<string, unknown>>;
  /** What values are fetched as. */
  readonly STRING: unknown;
  readonly BUFFER: unknown;
  getConnection(options: Readonly<Record<string, unknown>>): Promise<RawConnection>;
  /** Cuts the socket under a connection without a word to the server. */
  cut(connection: RawConnection): void;
}
