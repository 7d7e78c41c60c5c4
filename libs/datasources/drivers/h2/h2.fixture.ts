import { startH2, type TestH2 } from '../../../../test/fixtures/h2.js';
import type { AddressCheck } from '../tcp.js';
import type { H2Connection } from './connection.js';
import { openH2, type H2Login } from './open.js';
import { h2Options, type H2Options } from './options.js';
import { parseH2Url } from './url.js';

/** A real H2 server, and connections of the driver to it. */
export class H2Bench {
  readonly #opened: H2Connection[] = [];

  private constructor(readonly server: TestH2) {}

  static async start(jar: string): Promise<H2Bench> {
    return new H2Bench(await startH2(jar));
  }

  options(parameters = '', database = this.server.database): H2Options {
    return h2Options(parseH2Url(`pg://${this.server.host}:${this.server.port}/${database}${parameters}`), new Map());
  }

  async connect(
    options = this.options(),
    signal: AbortSignal = new AbortController().signal,
    as: Partial<H2Login> = {},
    check: AddressCheck = (host) => Promise.resolve({ address: host }),
  ): Promise<H2Connection> {
    const { username, password: secret } = this.server;
    const connection = await openH2(options, { username, secret, isReadonly: false, ...as }, check, signal);
    this.#opened.push(connection);
    return connection;
  }

  /** Statements the server is running at this moment, but for the one that asks. */
  async running(): Promise<string[]> {
    const rows = await this.server.sql(
      `SELECT executing_statement FROM information_schema.sessions
        WHERE executing_statement IS NOT NULL AND session_id <> SESSION_ID()`,
    );
    return rows.map(([text]) => text ?? '');
  }

  async close(): Promise<void> {
    for (const connection of this.#opened) connection.destroy();
    await this.server.stop();
  }
}
