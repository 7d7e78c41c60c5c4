import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext, TLSSocket, type SecureContext } from 'node:tls';

import { describeWithProgram } from '../../../../test/fixtures/programs.js';
import { eventually, NEVER, rowsOf } from '../driver.fixture.js';
import type { PostgresConnection } from './connection.js';
import type { SslMode } from './dial.js';
import type { PostgresOptions } from './options.js';
import { PostgresBench } from './postgres.fixture.js';

/** Ends TLS in front of the real server, which has none: answers the SSLRequest itself and passes the rest on. */
class TlsFront {
  /** Cancel requests and sessions that came encrypted. */
  encrypted = 0;
  plain = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(secureContext: SecureContext, backend: { host: string; port: number }) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('data', (first: Buffer) => {
        if (first.length !== 8 || first.readUInt32BE(4) !== 80877103) {
          this.plain += 1;
          socket.destroy();
          return;
        }
        socket.write('S');
        const secure = new TLSSocket(socket, { isServer: true, secureContext });
        secure.on('error', () => undefined);
        secure.on('secure', () => (this.encrypted += 1));
        const upstream = connect(backend);
        upstream.on('error', () => secure.destroy());
        secure.pipe(upstream).pipe(secure);
        secure.on('close', () => upstream.destroy());
        upstream.on('close', () => secure.destroy());
      });
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as { port: number }).port;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

describeWithProgram('openssl', 'TLS to PostgreSQL', (openssl) => {
  let bench: PostgresBench;
  let watcher: PostgresConnection;
  let folder: string;
  let front: TlsFront;
  let port: number;

  beforeAll(async () => {
    bench = await PostgresBench.create();
    watcher = await bench.connect();
    folder = mkdtempSync(join(tmpdir(), 'penstock-tls-'));
    execFileSync(
      openssl,
      [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-days',
        '2',
        '-subj',
        '/CN=localhost',
        '-addext',
        'subjectAltName=DNS:localhost',
        '-keyout',
        join(folder, 'key.pem'),
        '-out',
        join(folder, 'cert.pem'),
      ],
      { stdio: 'ignore' },
    );
    const { host, port: backend } = bench.login;
    front = new TlsFront(
      createSecureContext({ key: readFileSync(join(folder, 'key.pem')), cert: readFileSync(join(folder, 'cert.pem')) }),
      { host, port: Number(backend) },
    );
    port = await front.listen();
  });

  afterAll(async () => {
    front.close();
    await bench.close();
    rmSync(folder, { recursive: true });
  });

  /** `host` is the name in the URL; the address check resolves it to this machine. */
  function options(sslMode: SslMode, host: string, trusted: boolean): PostgresOptions {
    return {
      ...bench.options(),
      hosts: [{ host, port }],
      sslMode,
      sslRootCertificate: trusted ? join(folder, 'cert.pem') : null,
    };
  }

  const connectAs = (given: PostgresOptions): Promise<PostgresConnection> =>
    bench.connect(given, NEVER, bench.login, () => Promise.resolve({ address: '127.0.0.1' }));

  it.each<[SslMode, string, boolean]>([
    ['prefer', 'localhost', false],
    ['require', 'other.example', false],
    ['verify-ca', 'other.example', true],
    ['verify-full', 'localhost', true],
  ])('%s to %s (root given: %s) is encrypted and reads', async (sslMode, host, trusted) => {
    const before = front.encrypted;
    const connection = await connectAs(options(sslMode, host, trusted));
    expect((await rowsOf(connection, 'SELECT 1')).rows).toEqual(['[1]']);
    expect([front.encrypted, front.plain]).toEqual([before + 1, 0]);
  });

  it.each<[SslMode, string, boolean, string]>([
    ['verify-ca', 'localhost', false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['verify-full', 'localhost', false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['verify-full', 'other.example', true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])(
    '%s to %s (root given: %s) is refused: the dialled address is no name',
    async (sslMode, host, trusted, driverCode) => {
      await expect(connectAs(options(sslMode, host, trusted))).rejects.toMatchObject({
        kind: 'connection',
        driverCode,
      });
    },
  );

  it('a cancel request goes over TLS too, and stops the statement', async () => {
    const connection = await connectAs(options('verify-full', 'localhost', true));
    const before = front.encrypted;
    const abort = new AbortController();
    const cursor = await connection.openCursor(
      { sql: 'SELECT pg_sleep(600)', values: [] },
      { fetchSize: 10, signal: abort.signal },
    );
    const next = cursor.next(abort.signal);
    expect(await eventually(async () => (await bench.running(watcher)).length > 0)).toBe(true);
    abort.abort();
    await expect(next).rejects.toMatchObject({ kind: 'cancelled' });
    expect(await bench.running(watcher)).toEqual([]);
    expect(front.encrypted).toBeGreaterThan(before);
    expect(front.plain).toBe(0);
  });

  it('a large result survives encryption whole', async () => {
    const connection = await connectAs(options('require', 'localhost', false));
    const { rows } = await rowsOf(connection, `SELECT i, repeat('x', 500) FROM generate_series(1, 20000) i`);
    expect([rows.length, rows.at(-1)]).toEqual([20_000, `[20000,"${'x'.repeat(500)}"]`]);
  });
});
