import { EventEmitter } from 'node:events';

import type { RawConnection, TediousRequest } from './client.js';
import { MssqlConnection } from './connection.js';
import { loadMssql, type MssqlLibrary } from './library.js';
import { MssqlSession } from './session.js';

/** What a scripted server does with one request. */
export interface Answer {
  columns?: { colName: string; type: { name: string }; dataLength?: number; precision?: number; scale?: number }[];
  rows?: Iterable<unknown[]>;
  affected?: number;
  error?: Error & { number?: number; class?: number; code?: string };
  /** Never answers; only a cancel ends it. */
  hangs?: true;
  /** The connection is lost instead of an answer. */
  drops?: true;
}

interface Parameter {
  name: string;
  type: { name: string };
  value: unknown;
}

type ScriptedRequest = TediousRequest & {
  sqlTextOrProcedure: string;
  parameters: Parameter[];
  paused: boolean;
  callback: (error: unknown, rowCount?: number) => void;
};

/** Stands for `tedious`' connection: answers each request by a script, and honours the brake on rows. */
export class ScriptedConnection extends EventEmitter implements RawConnection {
  readonly asked: { sql: string; parameters: Parameter[] }[] = [];
  cancels = 0;
  resets = 0;
  closed = false;
  /** Rows handed over, all requests together. */
  sent = 0;
  #active: ScriptedRequest | null = null;

  constructor(readonly answer: (sql: string) => Answer) {
    super();
  }

  connect(callback: (error: unknown) => void): void {
    callback(undefined);
  }

  execSql(request: TediousRequest): void {
    void this.#serve(request as ScriptedRequest);
  }

  execSqlBatch(request: TediousRequest): void {
    void this.#serve(request as ScriptedRequest);
  }

  cancel(): boolean {
    this.cancels += 1;
    const request = this.#active;
    this.#active = null;
    request?.callback(Object.assign(new Error('Canceled.'), { code: 'ECANCEL' }));
    return true;
  }

  reset(callback: (error: unknown) => void): void {
    this.resets += 1;
    callback(undefined);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    const request = this.#active;
    this.#active = null;
    request?.callback(Object.assign(new Error('Connection closed before request completed.'), { code: 'ECLOSE' }));
    this.emit('end');
  }

  async #serve(request: ScriptedRequest): Promise<void> {
    this.#active = request;
    const { sqlTextOrProcedure: sql, parameters } = request;
    this.asked.push({ sql, parameters });
    await new Promise((resolve) => setImmediate(resolve));
    const { columns, rows = [], affected = 0, error, hangs, drops } = this.answer(sql);
    if (this.#active !== request) return;
    if (columns) request.emit('columnMetadata', columns);
    for (const row of rows) {
      while (request.paused) await new Promise((resolve) => request.once('resume', resolve));
      if (this.#active !== request) return;
      this.sent += 1;
      request.emit(
        'row',
        row.map((value) => ({ value })),
      );
    }
    if (hangs || this.#active !== request) return;
    if (drops) return this.close();
    this.#active = null;
    request.callback(error, affected);
  }
}

let loading: Promise<MssqlLibrary> | undefined;

export function library(): Promise<MssqlLibrary> {
  loading ??= loadMssql();
  return loading;
}

/** The driver's connection on a scripted server. */
export async function scripted(
  answer: (sql: string) => Answer,
): Promise<{ raw: ScriptedConnection; connection: MssqlConnection }> {
  const raw = new ScriptedConnection(answer);
  return { raw, connection: new MssqlConnection(new MssqlSession(raw, await library())) };
}

export function serverError(number: number, message = 'refused', severity = 16): Answer['error'] {
  return Object.assign(new Error(message), { number, class: severity, code: 'EREQUEST' });
}
