import { createServer, connect, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { loadConfiguration, PenstockError } from '#libs/kernel';
import { parseBlocks } from './address-rules.js';
import { EgressPolicy, type EgressRules, type NameLookup } from './egress-policy.js';
import { egressRules } from './egress-rules.js';
import { HostUnresolved } from './host-unresolved.js';

const NAMES: Record<string, string[]> = {
  'db.customer.example': ['10.1.2.3'],
  'meta.internal': ['10.9.9.9', 'fd00::9'],
  'alias.of.meta': ['10.9.9.9'],
  'redis.internal': ['10.9.9.8'],
  'mixed.example': ['203.0.113.5', '169.254.169.254'],
  localhost: ['127.0.0.1', '::1'],
  'here.example': ['127.0.0.1'],
};

/** Names of the table; literals (in any spelling getaddrinfo knows) mean themselves. */
const lookup: NameLookup = async (host) => {
  const known = NAMES[host];
  if (known) return known.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  if (host === '2130706433' || host === '0x7f.1') return [{ address: '127.0.0.1', family: 4 }];
  if (/^[\d.]+$/.test(host) || host.includes(':')) return [{ address: host, family: host.includes(':') ? 6 : 4 }];
  throw Object.assign(new TypeError('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
};

const base: EgressRules = {
  refuseLoopback: false,
  allow: [],
  deny: [],
  services: [
    { rule: 'metadata_database', host: 'meta.internal', port: 5432, database: 'penstock' },
    { rule: 'redis', host: 'redis.internal', port: 6379 },
    { rule: 'management', host: '127.0.0.1', port: 9090 },
  ],
};
const policy = (rules: Partial<EgressRules> = {}) => new EgressPolicy({ ...base, ...rules }, lookup);

async function ruleOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
    return 'passes';
  } catch (error) {
    if (error instanceof HostUnresolved) return 'unresolved';
    if (error instanceof PenstockError && error.code === 'datasource.validation.host_forbidden') {
      expect(Object.keys(error.details)).toEqual(['rule']);
      return String(error.details.rule);
    }
    throw error;
  }
}

describe('the egress policy', () => {
  it.each([
    ['db.customer.example', 5432, 'passes'],
    ['192.168.1.10', 5432, 'passes'],
    ['203.0.113.5', 443, 'passes'],
    ['localhost', 5432, 'passes'],
    ['169.254.169.254', 80, 'cloud_metadata'],
    ['169.254.1.1', 80, 'link_local'],
    ['fe80::1%eth0', 5432, 'link_local'],
    ['fd00:ec2::254', 80, 'cloud_metadata'],
    ['100.100.100.200', 80, 'cloud_metadata'],
    ['168.63.129.16', 80, 'cloud_metadata'],
    ['224.0.0.251', 5353, 'multicast'],
    ['ff02::1', 5353, 'multicast'],
    ['255.255.255.255', 80, 'multicast'],
    ['0.0.0.0', 5432, 'unspecified'],
    ['0.1.2.3', 5432, 'unspecified'],
    ['::', 5432, 'unspecified'],
    ['[::]', 5432, 'unspecified'],
    ['::ffff:169.254.169.254', 80, 'cloud_metadata'],
    ['64:ff9b::a9fe:a9fe', 80, 'cloud_metadata'],
    ['2002:a9fe:a9fe::1', 80, 'cloud_metadata'],
    ['::169.254.169.254', 80, 'cloud_metadata'],
    ['mixed.example', 5432, 'cloud_metadata'],
    ['', 5432, 'unresolved'],
    ['nowhere.invalid', 5432, 'unresolved'],
    ['a\u0000b', 5432, 'unresolved'],
  ])('%s:%i %s', async (host, port, expected) => {
    expect(await ruleOf(policy().check(host, port))).toBe(expected);
  });

  it.each([
    ['meta.internal', 5432, 'penstock', 'metadata_database'],
    ['alias.of.meta', 5432, 'penstock', 'metadata_database'],
    ['10.9.9.9', 5432, 'penstock', 'metadata_database'],
    ['::ffff:10.9.9.9', 5432, 'penstock', 'metadata_database'],
    ['10.9.9.9', 5432, undefined, 'metadata_database'],
    ['10.9.9.9', 5432, 'customers', 'passes'],
    ['10.9.9.9', 5433, 'penstock', 'passes'],
    ['redis.internal', 6379, 'anything', 'redis'],
    ['10.9.9.8', 6379, undefined, 'redis'],
    ['127.0.0.1', 9090, undefined, 'management'],
    ['here.example', 9090, undefined, 'management'],
    ['127.0.0.2', 9090, undefined, 'management'],
    ['2130706433', 9090, undefined, 'management'],
    ['0x7f.1', 9090, undefined, 'management'],
    ['::1', 9090, undefined, 'management'],
  ])('%s:%i database %s is %s: our own services are found under any name', async (host, port, database, expected) => {
    expect(await ruleOf(policy().check(host, port, { database }))).toBe(expected);
  });

  it('asks each time where a service of ours is that moves', async () => {
    const moving = policy();
    let server: { host: string; port: number } | undefined;
    moving.protect(() => server && { rule: 'redis', ...server });
    expect(await ruleOf(moving.check('10.0.0.7', 6379))).toBe('passes');
    server = { host: '10.0.0.7', port: 6379 };
    expect(await ruleOf(moving.check('10.0.0.7', 6379))).toBe('redis');
    server = { host: '10.0.0.8', port: 6379 };
    expect(await ruleOf(moving.check('10.0.0.7', 6379))).toBe('passes');
    expect(await ruleOf(moving.check('10.0.0.8', 6379))).toBe('redis');
  });

  it("knows the machine's own addresses as the loopback server they are", async () => {
    const own = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .filter(({ family, internal }) => family === 'IPv4' && !internal);
    for (const { address } of own) expect(await ruleOf(policy().check(address, 9090))).toBe('management');
  });

  it('refuses loopback when hardened, in every spelling', async () => {
    for (const host of [
      '127.0.0.1',
      '127.8.8.8',
      '::1',
      '::ffff:127.0.0.1',
      'localhost',
      '2130706433',
      '64:ff9b::7f00:1',
    ])
      expect(await ruleOf(policy({ refuseLoopback: true }).check(host, 5432))).toBe('loopback');
  });

  it('lets deny win over allow, and neither open what is never allowed', async () => {
    const blocks = policy({
      allow: parseBlocks(['10.0.0.0/8', '169.254.0.0/16']),
      deny: parseBlocks(['10.1.0.0/16', '2001:db8::/32']),
    });
    expect(await ruleOf(blocks.check('10.2.0.1', 5432))).toBe('passes');
    expect(await ruleOf(blocks.check('10.1.2.3', 5432))).toBe('denied');
    expect(await ruleOf(blocks.check('2001:db8::5', 5432))).toBe('denied');
    expect(await ruleOf(blocks.check('64:ff9b::a01:203', 5432))).toBe('denied');
    expect(await ruleOf(blocks.check('192.168.0.1', 5432))).toBe('not_allowed');
    expect(await ruleOf(blocks.check('169.254.7.7', 5432))).toBe('link_local');
    expect(await ruleOf(blocks.check('10.9.9.9', 5432, { database: 'penstock' }))).toBe('metadata_database');
  });

  it('hands out the checked address, so that a name that changes its mind between check and dial gains nothing', async () => {
    const answers = [['203.0.113.5'], ['169.254.169.254']];
    const rebinding = new EgressPolicy(base, async (host) =>
      host === 'rebind.example' ? (answers.shift() ?? []).map((address) => ({ address, family: 4 })) : lookup(host),
    );
    const checked = await rebinding.check('rebind.example', 5432);
    expect(checked).toEqual({ address: '203.0.113.5', family: 4 });
    expect(await ruleOf(rebinding.check('rebind.example', 5432))).toBe('cloud_metadata');
  });

  it('stands in for dns.lookup under a real connection', async () => {
    const server = createServer((socket) => socket.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const dial = (host: string, rules: Partial<EgressRules> = {}) =>
      new Promise<string>((resolve) => {
        const socket = connect({ host, port, lookup: policy(rules).lookupFor(port) });
        socket.on('connect', () => resolve('connected')).on('error', (error) => resolve(error.message));
        socket.on('close', () => socket.destroy());
      });
    expect(await dial('here.example')).toBe('connected');
    expect(await dial('here.example', { refuseLoopback: true })).not.toBe('connected');
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('the rules of a configuration', () => {
  const secret = Buffer.alloc(32, 1).toString('base64');
  const load = (extra: Record<string, string>) =>
    loadConfiguration({
      DATABASE_URL: 'postgres://app:p%40ss@meta.internal/',
      REDIS_URL: 'rediss://:pw@[fd00::7]:7000/2',
      DATAPIPELINES_DB_ENCRYPTION_KEY: secret,
      DATAPIPELINES_JWT_SECRET: secret,
      DATAPIPELINES_AUTH_LOCAL_ENABLED: 'true',
      ...extra,
    });

  it('finds host, port and database of our services, with the defaults of their protocols', () => {
    const rules = egressRules(load({}));
    expect(rules.services).toEqual([
      { rule: 'metadata_database', host: 'meta.internal', port: 5432, database: 'app' },
      { rule: 'redis', host: 'fd00::7', port: 7000 },
      { rule: 'management', host: '127.0.0.1', port: 9090 },
    ]);
    expect(JSON.stringify(rules)).not.toContain('p@ss');
    const behind = egressRules(load({ REDIS_URL: 'redis-sentinel://:pw@s1.internal,s2.internal:7001#main' }));
    expect(behind.services.filter(({ rule }) => rule === 'redis')).toEqual([
      { rule: 'redis', host: 's1.internal', port: 26_379 },
      { rule: 'redis', host: 's2.internal', port: 7001 },
    ]);
    expect(egressRules(load({}), 'postgres://penstock@localhost:6543/penstock').services[0]).toEqual({
      rule: 'metadata_database',
      host: 'localhost',
      port: 6543,
      database: 'penstock',
    });
  });
});
