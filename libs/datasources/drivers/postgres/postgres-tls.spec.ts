import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { CertificateAuthority } from '../../../../test/fixtures/certificates.js';
import { OwnPostgres } from '../../../../test/fixtures/own-postgres.js';
import { describeWithProgram } from '../../../../test/fixtures/programs.js';
import { cellOf, eventually, NEVER, rowsOf } from '../driver.fixture.js';
import type { PostgresConnection } from './connection.js';
import { PostgresBench } from './postgres.fixture.js';

const SSL_REQUEST = 80_877_103;

describeWithProgram('openssl', 'TLS to a PostgreSQL with a certificate', (openssl) => {
  let server: OwnPostgres;
  let bench: PostgresBench;
  let ours: CertificateAuthority;
  let foreign: CertificateAuthority;

  beforeAll(async () => {
    server = await OwnPostgres.start();
    bench = PostgresBench.on(server);
    [ours, foreign] = [new CertificateAuthority(openssl), new CertificateAuthority(openssl)];
  }, 60_000);

  afterAll(async () => {
    await bench?.close();
    ours?.remove();
    foreign?.remove();
  });

  /** The URL's host is a name; the address check leads it to this machine. */
  const connectTo = (host: string, parameters: string): Promise<PostgresConnection> => {
    const filled = parameters.replace('OURS', ours.root).replace('FOREIGN', foreign.root);
    const options = bench.options(filled, host);
    return bench.connect(options, NEVER, bench.login, () => Promise.resolve({ address: '127.0.0.1' }));
  };

  /** What the server says of the session: encrypted or plain; or the code of the refusal. */
  const attempt = async (host: string, parameters: string): Promise<string> => {
    let connection: PostgresConnection;
    try {
      connection = await connectTo(host, parameters);
    } catch (error) {
      const { kind, driverCode } = error as { kind: string; driverCode: string };
      return `${kind} ${driverCode}`;
    }
    const ssl = await cellOf(connection, 'SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    await connection.close();
    return ssl === '"true"' ? 'encrypted' : 'plain';
  };

  const refused = (code: string): string => `connection ${code}`;

  describe.each<[string, () => ReturnType<CertificateAuthority['issue']> | null, [string, string, string][]]>([
    [
      'of our authority, for its name',
      () => ours.issue('localhost'),
      [
        ['localhost', '', 'encrypted'],
        ['localhost', '?sslmode=disable', 'plain'],
        ['localhost', '?ssl=false', 'encrypted'],
        ['localhost', '?sslmode=allow', 'encrypted'],
        ['localhost', '?sslmode=prefer', 'encrypted'],
        ['other.example', '?sslmode=require', 'encrypted'],
        ['other.example', '?sslmode=verify-ca&sslrootcert=OURS', 'encrypted'],
        ['localhost', '?sslmode=verify-full&sslrootcert=OURS', 'encrypted'],
        ['localhost', '?ssl=true&sslrootcert=OURS', 'encrypted'],
        ['other.example', '?ssl=true&sslrootcert=OURS', refused('ERR_TLS_CERT_ALTNAME_INVALID')],
        ['other.example', '?sslmode=verify-full&sslrootcert=OURS', refused('ERR_TLS_CERT_ALTNAME_INVALID')],
        ['127.0.0.1', '?sslmode=verify-full&sslrootcert=OURS', refused('ERR_TLS_CERT_ALTNAME_INVALID')],
        ['localhost', '?sslmode=verify-full', refused('UNABLE_TO_VERIFY_LEAF_SIGNATURE')],
        ['localhost', '?sslmode=verify-ca', refused('UNABLE_TO_VERIFY_LEAF_SIGNATURE')],
        ['localhost', '?sslmode=verify-full&sslrootcert=FOREIGN', refused('UNABLE_TO_VERIFY_LEAF_SIGNATURE')],
        ['localhost', '?sslmode=verify-ca&sslrootcert=FOREIGN', refused('UNABLE_TO_VERIFY_LEAF_SIGNATURE')],
      ],
    ],
    [
      'that ended yesterday',
      () => ours.issue('localhost', -1),
      [
        ['localhost', '?sslmode=require', 'encrypted'],
        ['localhost', '?sslmode=verify-ca&sslrootcert=OURS', refused('CERT_HAS_EXPIRED')],
        ['localhost', '?sslmode=verify-full&sslrootcert=OURS', refused('CERT_HAS_EXPIRED')],
      ],
    ],
    [
      'that it made for itself',
      () => ours.selfSigned('localhost'),
      [
        ['localhost', '?sslmode=require', 'encrypted'],
        ['localhost', '?sslmode=verify-ca', refused('DEPTH_ZERO_SELF_SIGNED_CERT')],
        ['localhost', '?sslmode=verify-ca&sslrootcert=OURS', refused('DEPTH_ZERO_SELF_SIGNED_CERT')],
        ['localhost', '?sslmode=verify-full&sslrootcert=OURS', refused('DEPTH_ZERO_SELF_SIGNED_CERT')],
      ],
    ],
    [
      'which it does not have',
      () => null,
      [
        ['localhost', '', 'plain'],
        ['localhost', '?sslmode=allow', 'plain'],
        ['localhost', '?sslmode=require', refused('TLS_NOT_OFFERED')],
        ['localhost', '?sslmode=verify-ca&sslrootcert=OURS', refused('TLS_NOT_OFFERED')],
        ['localhost', '?ssl=true&sslrootcert=OURS', refused('TLS_NOT_OFFERED')],
      ],
    ],
  ])('%s', (_what, certificate, cases) => {
    beforeAll(async () => server.certify(certificate()));

    it.each(cases)('jdbc:postgresql://%s/…%s: %s', async (host, parameters, outcome) => {
      expect(await attempt(host, parameters)).toBe(outcome);
    });
  });

  describe('once it is trusted', () => {
    const TRUSTED = '?sslmode=verify-full&sslrootcert=OURS';

    beforeAll(async () => server.certify(ours.issue('localhost')));

    it('a file of roots that holds none, or is gone, trusts nobody', async () => {
      const empty = join(ours.folder, 'empty.pem');
      writeFileSync(empty, '');
      const garbage = join(ours.folder, 'garbage.pem');
      writeFileSync(garbage, '-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n');
      for (const file of [empty, garbage, join(ours.folder, 'gone.pem')]) {
        await expect(connectTo('localhost', `?sslmode=verify-full&sslrootcert=${file}`)).rejects.toMatchObject({
          kind: 'connection',
        });
      }
    });

    it('a cancel request goes over TLS too, and stops the statement', async () => {
      const [connection, watcher] = [await connectTo('localhost', TRUSTED), await connectTo('localhost', TRUSTED)];
      server.openings.length = 0;
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
      expect(server.openings.length).toBeGreaterThan(0);
      expect(server.openings.every((opening) => opening === SSL_REQUEST)).toBe(true);
    });

    it('a large result survives encryption whole', async () => {
      const connection = await connectTo('localhost', TRUSTED);
      const { rows } = await rowsOf(connection, `SELECT i, repeat('x', 500) FROM generate_series(1, 20000) i`);
      expect([rows.length, rows.at(-1)]).toEqual([20_000, `[20000,"${'x'.repeat(500)}"]`]);
    });
  });
});
