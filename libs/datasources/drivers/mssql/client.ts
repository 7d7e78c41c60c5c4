import type { EventEmitter } from 'node:events';

/** One column of a result as `tedious` hands it over. */
export interface ColumnMetadata {
  readonly colName: string;
  readonly type: { readonly name: string };
  readonly dataLength?: number;
  readonly precision?: number;
  readonly scale?: number;
  readonly udtInfo?: { readonly typeName: string };
}

export interface Cell {
  readonly value: unknown;
}

/** A statement under way. Events: `columnMetadata`, `row`, and the callback at its end. */
export interface TediousRequest extends EventEmitter {
  addParameter(name: string, type: unknown, value: unknown): void;
  pause(): void;
  resume(): void;
}

/** The parts of `tedious`' connection this driver uses. */
export interface RawConnection extends EventEmitter {
  /** Set when the server sent the login on to another one. */
  readonly routingData?: { readonly server: string; readonly port: number } | undefined;
  execSql(request: TediousRequest): void;
  execSqlBatch(request: TediousRequest): void;
  /** Asks the server to stop the request under way (an attention). */
  cancel(): boolean;
  /** The next request begins with the session's first state. */
  reset(callback: (error: unknown) => void): void;
  connect(callback: (error: unknown) => void): void;
  close(): void;
}

export type RequestCallback = (error: unknown, rowCount?: number) => void;

export interface Tedious {
  Connection: new (config: Record<string, unknown>) => RawConnection;
  Request: new (sql: string, callback: RequestCallback) => TediousRequest;
  /** Parameter types by name: `NVarChar`, `BigInt`, `VarBinary` … */
  TYPES: Readonly<Record<string, unknown>>;
}

/** Finds the port of a named instance; `server` is an address that was checked. */
export type InstanceLookup = (options: {
  server: string;
  instanceName: string;
  timeout: number;
  signal: AbortSignal;
}) => Promise<number>;
