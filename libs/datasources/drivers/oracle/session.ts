import { abortable, DriverFailure } from '../driver-failure.js';
import type { BoundStatement } from '../driver.js';
import type { BindValue, OracleLibrary, RawConnection } from './client.js';
import { oracleFailure } from './failure.js';

/** Bind types by the name that the binder gives (01 §4.4). */
const BIND_TYPES: ReadonlyMap<string, string> = new Map([
  ['NUMBER', 'DB_TYPE_NUMBER'],
  ['VARCHAR', 'DB_TYPE_VARCHAR'],
  ['CLOB', 'DB_TYPE_CLOB'],
  ['RAW', 'DB_TYPE_RAW'],
  ['BLOB', 'DB_TYPE_BLOB'],
  ['BINARY_DOUBLE', 'DB_TYPE_BINARY_DOUBLE'],
]);

/** A logged-in connection: failures in the product's own form, and everything that waits rejects once it is cut. */
export class OracleSession {
  readonly library: OracleLibrary;
  readonly raw: RawConnection;
  readonly #lost = new AbortController();

  constructor(raw: RawConnection, library: OracleLibrary) {
    this.raw = raw;
    this.library = library;
  }

  get isLost(): boolean {
    return this.#lost.signal.aborted;
  }

  /** One call of the library. A failure of the connection makes the session lost. */
  async call<T>(work: (raw: RawConnection) => Promise<T>): Promise<T> {
    const lost = this.#lost.signal;
    if (lost.aborted) throw gone();
    try {
      return await abortable(work(this.raw), lost);
    } catch (error) {
      if (lost.aborted) throw gone();
      const failure = oracleFailure(error);
      if (failure.kind === 'connection') this.#lost.abort();
      throw failure;
    }
  }

  bindsOf({ values, driverTypes }: BoundStatement): Record<string, BindValue> {
    const binds = values.map((value, index): [string, BindValue] => {
      const name = driverTypes?.[index] ?? (typeof value === 'number' ? 'NUMBER' : 'VARCHAR');
      const type = this.library.types[BIND_TYPES.get(name) ?? ''];
      if (type === undefined) throw new TypeError(`no bind type ${name}`);
      const given = value instanceof Uint8Array && !Buffer.isBuffer(value) ? Buffer.from(value) : value;
      return [`dp_${index + 1}`, { type, val: given ?? null }];
    });
    return Object.fromEntries(binds);
  }

  /** Says goodbye; a server that does not answer is left to the pool's own limits. */
  async end(): Promise<void> {
    if (this.isLost) return;
    const farewell = this.raw.close({ drop: true });
    this.#lost.abort();
    await farewell.catch(() => undefined);
  }

  destroy(): void {
    this.#lost.abort();
    this.library.cut(this.raw);
  }
}

function gone(): DriverFailure {
  return new DriverFailure('connection', 'The connection is closed.', { driverCode: 'NJS-003' });
}
