import { PenstockError } from '#libs/kernel';
import type { Column, ColumnBatch, Dialect } from '#libs/typesystem';

import { DriverFailure } from '../drivers/driver-failure.js';
import type {
  Access,
  BoundStatement,
  Cursor,
  DriverConnection,
  Lease,
  MappingWarning,
  ReadOptions,
  TableWriter,
  WorkOptions,
  WriteTarget,
} from '../drivers/driver.js';
import type { LeasePool } from './lease-pool.js';
import type { Scrubber } from './scrubber.js';

/** One connection of a pool in the hands of a node, until it is released. Failures leave it scrubbed. */
export class PooledLease implements Lease {
  readonly dialect: Dialect;
  readonly #pool: LeasePool;
  readonly #connection: DriverConnection;
  readonly #access: Access;
  readonly #scrubber: Scrubber;
  #released = false;

  constructor(pool: LeasePool, connection: DriverConnection, dialect: Dialect, access: Access, scrubber: Scrubber) {
    this.#pool = pool;
    this.#connection = connection;
    this.dialect = dialect;
    this.#access = access;
    this.#scrubber = scrubber;
  }

  async openCursor(statement: BoundStatement, options: ReadOptions): Promise<Cursor> {
    const cursor = await this.clean(() => this.#connection.openCursor(statement, options));
    return new LeasedCursor(cursor, this);
  }

  async execute(statement: BoundStatement, options: WorkOptions): Promise<number> {
    this.#refuseRead();
    return await this.clean(() => this.#connection.execute(statement, options));
  }

  async beginWrite(target: WriteTarget, options: WorkOptions): Promise<TableWriter> {
    this.#refuseRead();
    const writer = await this.clean(() => this.#connection.beginWrite(target, options));
    return {
      write: (batch) => this.clean(() => writer.write(batch)),
      commit: () => this.clean(() => writer.commit()),
      rollback: () => this.clean(() => writer.rollback()),
    };
  }

  catalog(statement: BoundStatement, signal: AbortSignal): Promise<(string | null)[][]> {
    return this.clean(() => this.#connection.catalog(statement, signal));
  }

  async release(outcome: 'ok' | 'destroy' = 'ok'): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    await this.#pool.give(this.#connection, outcome);
  }

  async clean<T>(work: () => Promise<T>): Promise<T> {
    if (this.#released) throw new DriverFailure('other', 'The lease was released.');
    try {
      return await work();
    } catch (error) {
      throw this.#scrubber.failure(error);
    }
  }

  #refuseRead(): void {
    if (this.#access === 'read')
      throw new PenstockError('pipeline.node.datasource_readonly', { details: { datasource: this.#pool.name } });
  }
}

class LeasedCursor implements Cursor {
  readonly #cursor: Cursor;
  readonly #lease: PooledLease;

  constructor(cursor: Cursor, lease: PooledLease) {
    this.#cursor = cursor;
    this.#lease = lease;
  }

  get columns(): readonly Column[] {
    return this.#cursor.columns;
  }

  get warnings(): readonly MappingWarning[] {
    return this.#cursor.warnings;
  }

  next(signal: AbortSignal): Promise<ColumnBatch | null> {
    return this.#lease.clean(() => this.#cursor.next(signal));
  }

  close(): Promise<void> {
    return this.#cursor.close();
  }
}
