import { startMariadb, type TestMariadb } from '../../../../test/fixtures/mariadb.js';
import type { AddressCheck } from '../tcp.js';
import type { MysqlConnection } from './connection.js';
import { openMysql } from './open.js';
import { mysqlOptions, type MysqlOptions } from './options.js';
import { parseMysqlUrl } from './url.js';

/** A real MariaDB, and connections of the driver to it. */
export class MariadbBench {
  readonly #opened: MysqlConnection[] = [];

  private constructor(readonly server: TestMariadb) {}

  static async start(program: string, args: readonly string[] = []): Promise<MariadbBench> {
    return new MariadbBench(await startMariadb(program, args));
  }

  options(parameters = '', host = this.server.host): MysqlOptions {
    const { port, database } = this.server;
    return mysqlOptions(parseMysqlUrl(`//${host}:${port}/${database}${parameters}`, 'jdbc:mysql:'), new Map());
  }

  async connect(
    options = this.options(),
    signal: AbortSignal = new AbortController().signal,
    as: { username: string; secret: string } = { username: this.server.username, secret: this.server.password },
    check: AddressCheck = () => Promise.resolve({ address: this.server.host }),
  ): Promise<MysqlConnection> {
    const connection = await openMysql(options, as, check, signal);
    this.#opened.push(connection);
    return connection;
  }

  /** Statements the server is running at this moment for the author's login. */
  async running(): Promise<string[]> {
    const rows = await this.server.sql(
      `SELECT INFO FROM information_schema.PROCESSLIST WHERE USER = 'author' AND INFO IS NOT NULL`,
    );
    return rows.map(([info]) => String(info));
  }

  /** Connections of the author's login. */
  async sessions(): Promise<number> {
    const [row] = await this.server.sql(`SELECT count(*) FROM information_schema.PROCESSLIST WHERE USER = 'author'`);
    return Number(row?.[0]);
  }

  async close(): Promise<void> {
    for (const connection of this.#opened) connection.destroy();
    await this.server.stop();
  }
}
