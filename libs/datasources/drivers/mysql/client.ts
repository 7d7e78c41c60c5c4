import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

/** A row packet: the row lies in `buffer[offset, end)`. */
export interface RowPacket {
  readonly buffer: Buffer;
  readonly offset: number;
  readonly end: number;
}

/** A result column as `mysql2` hands it over. */
export interface FieldPacket {
  readonly name: string;
  readonly columnType: number;
  readonly columnLength: number;
  readonly characterSet: number;
  readonly decimals: number;
  readonly flags: number;
}

/** What turns row packets into whatever the caller wants of them; its result is thrown away here. */
export type RowParser = new () => { next(packet: RowPacket): unknown };

/** An EXECUTE under way: emits `end` or `error`, and asks for the parser of its rows once the columns are known. */
export interface ExecuteCommand extends EventEmitter {
  buildParserFromFields(fields: readonly FieldPacket[]): RowParser;
}

export interface Statement {
  execute(values: readonly unknown[]): ExecuteCommand;
  execute(values: readonly unknown[], callback: ResultCallback): ExecuteCommand;
}

export interface Completion {
  affectedRows?: number;
}

export type ResultCallback = (error: unknown, result?: unknown) => void;

/** The parts of `mysql2`'s connection this driver uses; its own typings leave out the events of an EXECUTE. */
export interface RawConnection extends EventEmitter {
  readonly threadId: number | null;
  readonly stream: Socket;
  connect(callback: (error: unknown) => void): void;
  query(options: { sql: string; rowsAsArray: true }, callback: ResultCallback): unknown;
  prepare(sql: string, callback: (error: unknown, statement?: Statement) => void): unknown;
  unprepare(sql: string): unknown;
  ping(callback: (error: unknown) => void): unknown;
  reset(callback: (error: unknown) => void): unknown;
  end(callback: (error: unknown) => void): void;
  destroy(): void;
  pause(): void;
  resume(): void;
}

export interface TypedParameters {
  readonly [type: string]: (value: unknown) => unknown;
}

export interface Mysql2 {
  createConnection(options: Record<string, unknown>): RawConnection;
  authPlugins: Record<string, (options: Record<string, unknown>) => unknown>;
  TypedParameter: TypedParameters;
}

let loading: Promise<Mysql2> | undefined;

/** Loaded with the first connection: a server without MySQL datasources never reads it. */
export function mysql2(): Promise<Mysql2> {
  loading ??= import('mysql2').then((module) => module.default as unknown as Mysql2);
  return loading;
}
