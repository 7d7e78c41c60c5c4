import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { copyFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

import { CertificateAuthority, type ServerCertificate } from '../../../../test/fixtures/certificates.js';
import { findProgram } from '../../../../test/fixtures/installed-program.js';
import { describeWithProgram } from '../../../../test/fixtures/programs.js';
import { cellOf, eventually, NEVER } from '../driver.fixture.js';
import { MariadbBench } from './mysql.fixture.js';
import { openMysql } from './open.js';

const openssl = findProgram('openssl') ?? 'openssl';

describeWithProgram('mariadbd', 'logging in to MariaDB', (program) => {
  let ours: CertificateAuthority;
  let foreign: CertificateAuthority;
  let files: ServerCertificate;
  let plain: MariadbBench;
  let tls: MariadbBench;

  beforeAll(async () => {
    [ours, foreign] = [new CertificateAuthority(openssl), new CertificateAuthority(openssl)];
    files = { key: join(ours.folder, 'mariadb.key'), certificate: join(ours.folder, 'mariadb.pem') };
    lay(ours.selfSigned('localhost'));
    plain = await MariadbBench.start(program);
    tls = await MariadbBench.start(program, [`--ssl-key=${files.key}`, `--ssl-cert=${files.certificate}`]);
  }, 60_000);

  const lay = ({ key, certificate }: ServerCertificate): void => {
    copyFileSync(key, files.key);
    copyFileSync(certificate, files.certificate);
  };

  afterAll(async () => {
    await plain?.close();
    await tls?.close();
    ours?.remove();
    foreign?.remove();
  });

  const cipher = async (bench: MariadbBench, parameters: string, host?: string): Promise<string> => {
    const connection = await bench.connect(bench.options(parameters, host));
    return await cellOf(
      connection,
      `SELECT VARIABLE_VALUE <> '' FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'Ssl_cipher'`,
    );
  };

  it.each([
    ['', '1', '0'],
    ['?sslMode=PREFERRED', '1', '0'],
    ['?sslMode=DISABLED', '0', '0'],
    ['?useSSL=false', '0', '0'],
    ['?sslMode=REQUIRED', '1', 'refused'],
    ['?useSSL=true', '1', 'refused'],
    ['?sslMode=trust', '1', 'refused'],
    ['?sslMode=VERIFY_CA', 'refused', 'refused'],
    ['?sslMode=VERIFY_IDENTITY', 'refused', 'refused'],
  ])('%s: encrypted %s on a server with TLS, %s on one without', async (parameters, withTls, without) => {
    const attempt = (bench: MariadbBench) => cipher(bench, parameters, 'localhost').catch(() => 'refused');
    expect([await attempt(tls), await attempt(plain)]).toEqual([withTls, without]);
  });

  it('says why a certificate was not trusted, and that an address has no name to verify', async () => {
    await expect(cipher(tls, '?sslMode=VERIFY_CA')).rejects.toMatchObject({
      kind: 'connection',
      message: expect.stringMatching(/certificate/i),
    });
    await expect(cipher(tls, '?sslMode=VERIFY_IDENTITY')).rejects.toMatchObject({ driverCode: 'TLS_IDENTITY' });
  });

  /** As a process has them that was started with NODE_EXTRA_CA_CERTS. */
  const trusting = async <T>(root: string, work: () => Promise<T>): Promise<T> => {
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, root]);
    try {
      return await work();
    } finally {
      setDefaultCACertificates(before);
    }
  };

  const REFUSED = 'HANDSHAKE_SSL_ERROR';

  it.each<[string, () => ServerCertificate, string[]]>([
    ['of a trusted authority', () => ours.issue('localhost'), ['1', '1', '1', '1']],
    ['for another host', () => ours.issue('other.example'), ['1', '1', '1', REFUSED]],
    ['that ended yesterday', () => ours.issue('localhost', -1), ['1', '1', REFUSED, REFUSED]],
    ['of an authority nobody trusts', () => foreign.issue('localhost'), ['1', '1', REFUSED, REFUSED]],
  ])('a certificate %s: PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY', async (_what, certificate, outcome) => {
    lay(certificate());
    await tls.server.sql('FLUSH SSL');
    const seen: string[] = [];
    await trusting(ours.rootPem, async () => {
      for (const mode of ['PREFERRED', 'REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY']) {
        const attempt = cipher(tls, `?sslMode=${mode}`, 'localhost');
        seen.push(await attempt.catch((error: { driverCode: string }) => error.driverCode));
      }
    });
    expect(seen).toEqual(outcome);
  });

  it.each([
    ['a wrong password', {}, { username: 'author', secret: 'wrong' }, 'ER_ACCESS_DENIED_ERROR'],
    ['a database that is missing', { database: 'nowhere' }, undefined, 'ER_DBACCESS_DENIED_ERROR'],
    ['a closed port', { host: { host: '127.0.0.1', port: 1 } }, undefined, 'ECONNREFUSED'],
  ])('%s is told by its code', async (_name, change, as, driverCode) => {
    await expect(plain.connect({ ...plain.options(), ...change }, NEVER, as)).rejects.toMatchObject({ driverCode });
  });

  it('a login that gets no answer ends with the time given, or with the caller', async () => {
    const silent: Server = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const options = { ...plain.options('?connectTimeout=100'), host: { host: '127.0.0.1', port } };
    const as = { username: 'u', secret: 'p' };
    const check = (): Promise<{ address: string }> => Promise.resolve({ address: '127.0.0.1' });
    await expect(openMysql(options, as, check, NEVER)).rejects.toMatchObject({ driverCode: 'ETIMEDOUT' });
    const patient = { ...options, connectTimeoutMs: 0 };
    await expect(openMysql(patient, as, check, AbortSignal.timeout(50))).rejects.toMatchObject({ kind: 'cancelled' });
    silent.close();
  });

  it('the socket goes to the address that was checked, not to what the name says', async () => {
    const asked: string[] = [];
    const connection = await plain.connect(plain.options('', 'db.example.org'), NEVER, undefined, (host, port) => {
      asked.push(`${host}:${port}`);
      return Promise.resolve({ address: '127.0.0.1' });
    });
    expect(await cellOf(connection, 'SELECT 1')).toBe('1');
    expect([...new Set(asked)]).toEqual([`db.example.org:${plain.server.port}`]);
  });

  it('a server that falls silent is given up after socketTimeout, and a ping after its own time', async () => {
    const connection = await plain.connect(plain.options('?socketTimeout=300'));
    const other = await plain.connect();
    await plain.server.freeze();
    try {
      await expect(cellOf(connection, 'SELECT 1')).rejects.toMatchObject({
        kind: 'connection',
        driverCode: 'ETIMEDOUT',
      });
      await expect(other.ping(100)).rejects.toMatchObject({ kind: 'cancelled' });
      expect(connection.usable).toBe(false);
    } finally {
      plain.server.thaw();
    }
  });

  it('a connection the server killed is not usable, and says so', async () => {
    const connection = await plain.connect();
    const told = expect(cellOf(connection, 'SELECT SLEEP(30)')).rejects.toMatchObject({
      name: 'DriverFailure',
      kind: 'connection',
    });
    expect(await eventually(async () => (await plain.running()).length > 0)).toBe(true);
    await plain.server.sql(`KILL ${connection.session.threadId}`);
    await told;
    expect(connection.usable).toBe(false);
    await connection.close();
  });

  it('says goodbye when it is closed', async () => {
    const before = await plain.sessions();
    const connection = await plain.connect();
    expect(await plain.sessions()).toBe(before + 1);
    await connection.close();
    expect(await eventually(async () => (await plain.sessions()) === before)).toBe(true);
  });
});
