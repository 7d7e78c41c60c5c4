import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EgressPolicy, type EgressRules } from '#libs/egress';
import { loadConfiguration } from '#libs/kernel';
import type { Database } from '#libs/persistence';
import type { KeyProvider } from './credentials/key-ring.js';
import type { DatasourceRecord } from './datasource.js';
import type { DatasourceRepository } from './datasource.repository.js';
import { NativeCallGate } from './drivers/duckdb/native-call-gate.js';
import { loadDrivers } from './drivers/load-drivers.js';
import { SourceFactory } from './source-factory.js';

const RULES: EgressRules = { refuseLoopback: false, allow: [], deny: [], services: [] };
const config = loadConfiguration({});
const drivers = await loadDrivers(config, NativeCallGate.fromConfiguration(config));

/** Every dialect whose driver dials a host of the URL; one whose driver is missing here fails, and is not left out. */
const DIALLING: [DatasourceRecord['dialect'], string][] = [
  ['POSTGRES', 'jdbc:postgresql://rebind.example:PORT/d'],
  ['MYSQL', 'jdbc:mysql://rebind.example:PORT/d'],
  ['MSSQL', 'jdbc:sqlserver://rebind.example:PORT;databaseName=d;encrypt=false'],
  ['ORACLE', 'jdbc:oracle:thin:@//rebind.example:PORT/d'],
  ['H2', 'jdbc:h2:pg://rebind.example:PORT/d'],
];

let server: Server;
let connections: number;

beforeEach(async () => {
  connections = 0;
  server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined).destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

function source(dialect: DatasourceRecord['dialect'], url: string, answers: string[]) {
  const egress = new EgressPolicy(RULES, async () => {
    const address = answers.shift() as string;
    return [{ address, family: address.includes(':') ? 6 : 4 }];
  });
  const factory = new SourceFactory(
    {} as Database,
    {} as DatasourceRepository,
    drivers,
    {} as KeyProvider,
    egress,
    config,
  );
  const port = String((server.address() as AddressInfo).port);
  const record = { name: 'r', dialect, jdbcUrl: url.replace('PORT', port), username: 'u', isReadonly: false };
  return factory.sourceOf(
    { ...record, properties: { jdbc: new Map(), dialect: new Map() } } as unknown as DatasourceRecord,
    'secret',
  );
}

const attempt = async (opened: Awaited<ReturnType<typeof source>>): Promise<unknown> =>
  opened.source.connect('read', AbortSignal.timeout(10_000)).then(
    () => 'connected',
    (error: { driverCode?: string }) => error.driverCode,
  );

describe.each(DIALLING)('%s: a name that means something else at every look', (dialect, url) => {
  it('is dialled at the address that was checked, which is looked up once for each connection', async () => {
    const answers = ['127.0.0.1', '169.254.169.254'];
    const opened = await source(dialect, url, answers);
    expect(await attempt(opened)).not.toBe('HOST_FORBIDDEN');
    expect([connections, answers]).toEqual([1, ['169.254.169.254']]);
  });

  it.each(['169.254.169.254', '::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', 'fd00:ec2::254', 'fe80::1', '224.0.0.1'])(
    'is not dialled again once it points to %s, though it was accepted before',
    async (address) => {
      const opened = await source(dialect, url, ['127.0.0.1', address]);
      await attempt(opened);
      const before = connections;
      expect([await attempt(opened), connections]).toEqual(['HOST_FORBIDDEN', before]);
    },
  );
});
