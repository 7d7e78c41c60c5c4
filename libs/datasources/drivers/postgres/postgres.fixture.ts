import { createEmptyDatabase, type EmptyDatabase } from '../../../../test/fixtures/postgres.js';
import type { PostgresConnection } from './connection.js';
import type { AddressCheck } from '../tcp.js';
import { openPostgres } from './open.js';
import { postgresOptions, type PostgresOptions } from './options.js';
import { TypeNames } from './type-names.js';
import { parsePostgresUrl } from './url.js';

export interface Login {
  username: string;
  secret: string;
  host: string;
  port: string;
  database: string;
}

export function loginOf(url: string): Login {
  const { hostname, port, username, password, pathname } = new URL(url);
  return { username, secret: decodeURIComponent(password), host: hostname, port, database: pathname.slice(1) };
}

/** A real server's database, and connections of the driver to it. */
export class PostgresBench {
  readonly #opened: PostgresConnection[] = [];

  private constructor(readonly database: EmptyDatabase) {}

  static async create(): Promise<PostgresBench> {
    return new PostgresBench(await createEmptyDatabase());
  }

  /** On a server of the suite's own; `close` ends it. */
  static on(database: EmptyDatabase): PostgresBench {
    return new PostgresBench(database);
  }

  get login(): Login {
    return loginOf(this.database.url);
  }

  options(parameters = '', host = this.login.host): PostgresOptions {
    const { port, database } = this.login;
    return postgresOptions(parsePostgresUrl(`//${host}:${port}/${database}${parameters}`), new Map());
  }

  async connect(
    options = this.options(),
    signal: AbortSignal = new AbortController().signal,
    as: { username: string; secret: string } = this.login,
    check: AddressCheck = (host) => Promise.resolve({ address: host }),
  ): Promise<PostgresConnection> {
    const connection = await openPostgres(options, as, new TypeNames(), check, signal);
    this.#opened.push(connection);
    return connection;
  }

  /** Statements of this database that the server is running at this moment, but for the one that asks. */
  async running(watcher: PostgresConnection): Promise<string[]> {
    const { rows } = await watcher.control(
      `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()`,
    );
    return rows.map(([query]) => query ?? '');
  }

  async close(): Promise<void> {
    for (const connection of this.#opened) connection.destroy();
    await this.database.drop();
  }
}
