import type { ColumnMetadata, ExecuteResult, OracleLibrary, RawConnection } from './client.js';
import { OracleConnection } from './connection.js';
import { loadOracle } from './library.js';
import { OracleSession } from './session.js';

/** What a scripted server does with one statement. */
export interface Answer {
  metaData?: ColumnMetadata[];
  /** Rows of a query, in the form the fetch asked for. */
  rows?: unknown[][];
  /** Thrown in place of the rows that follow those given. */
  breaksWith?: Error;
  affected?: number;
  error?: Error;
  /** Never answers; only a break ends it. */
  hangs?: true;
}

export function oracleError(errorNum: number): Error {
  const code = `ORA-${String(errorNum).padStart(5, '0')}`;
  return Object.assign(new Error(`${code}: refused\nHelp: https://docs.oracle.com/`), { errorNum, code });
}

export function networkError(): Error {
  return Object.assign(new Error('NJS-500: connection to the Oracle Database was broken'), { code: 'NJS-500' });
}

/** Stands for `oracledb`'s connection: answers each statement by a script. */
export class ScriptedOracle implements RawConnection {
  readonly asked: { sql: string; binds: unknown; options: Record<string, unknown> }[] = [];
  readonly fetches: number[] = [];
  breaks = 0;
  cuts = 0;
  closed = false;
  committing: (() => Promise<void>) | undefined;
  #interrupt: ((error: Error) => void) | null = null;

  constructor(readonly answer: (sql: string) => Answer) {}

  async execute(sql: string, binds: unknown, options: Readonly<Record<string, unknown>>): Promise<ExecuteResult> {
    this.asked.push({ sql, binds, options });
    const answer = this.answer(sql);
    await this.#settle(answer);
    if (!options['resultSet']) return { rows: answer.rows ?? [], rowsAffected: answer.affected ?? 0 };
    const waiting = [...(answer.rows ?? [])];
    return {
      resultSet: {
        getRows: async (count) => {
          this.fetches.push(count);
          const rows = waiting.splice(0, count);
          if (rows.length === 0 && answer.breaksWith) throw answer.breaksWith;
          return await Promise.resolve(rows);
        },
        close: () => Promise.resolve(),
      },
    };
  }

  async executeMany(
    sql: string,
    rows: readonly (readonly unknown[])[],
    options: Readonly<Record<string, unknown>>,
  ): Promise<ExecuteResult> {
    this.asked.push({ sql, binds: rows, options });
    await this.#settle(this.answer(sql));
    return { rowsAffected: rows.length };
  }

  async getStatementInfo(sql: string): Promise<{ metaData?: ColumnMetadata[] }> {
    const answer = this.answer(sql);
    if (answer.error) throw answer.error;
    return await Promise.resolve(answer.metaData ? { metaData: answer.metaData } : {});
  }

  breakExecution(): Promise<void> {
    this.breaks += 1;
    this.#interrupt?.(oracleError(1013));
    return Promise.resolve();
  }

  async commit(): Promise<void> {
    this.asked.push({ sql: 'COMMIT', binds: {}, options: {} });
    await this.#settle(this.answer('COMMIT'));
  }

  rollback(): Promise<void> {
    this.asked.push({ sql: 'ROLLBACK', binds: {}, options: {} });
    return Promise.resolve();
  }

  async ping(): Promise<void> {
    await this.#settle(this.answer('PING'));
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }

  async #settle({ error, hangs }: Answer): Promise<void> {
    await Promise.resolve();
    if (error) throw error;
    if (hangs) await new Promise<void>((_resolve, reject) => (this.#interrupt = reject));
  }
}

/** The real library, but for the cut, which is counted. */
export async function scripted(
  answer: (sql: string) => Answer,
): Promise<{ raw: ScriptedOracle; connection: OracleConnection; library: OracleLibrary }> {
  const raw = new ScriptedOracle(answer);
  const library = { ...(await loadOracle()), cut: () => void (raw.cuts += 1) };
  return { raw, library, connection: new OracleConnection(new OracleSession(raw, library)) };
}
