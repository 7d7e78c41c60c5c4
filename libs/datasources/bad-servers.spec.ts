import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import { readJson, type JsonObject } from '#libs/kernel';

import { datasourceScene, refusal, SECRET } from './datasource-scene.fixture.js';
import type { DriverFailure } from './drivers/driver-failure.js';
import { eventually, NEVER } from './drivers/driver.fixture.js';

const URLS = {
  POSTGRES: (host: string) => `jdbc:postgresql://${host}/shop`,
  MYSQL: (host: string) => `jdbc:mysql://${host}/shop`,
  H2: (host: string) => `jdbc:h2:pg://${host}/shop`,
  MSSQL: (host: string) => `jdbc:sqlserver://${host};databaseName=shop`,
  ORACLE: (host: string) => `jdbc:oracle:thin:@//${host}/shop`,
} as const;
const DIALECTS = Object.keys(URLS) as (keyof typeof URLS)[];

const UNREACHABLE = 'pipeline.execution.datasource_unreachable';

/** Oracle's library ends a login by its own clock only. */
const PROPERTIES = (dialect: string): JsonObject =>
  readJson(`{"hikari": {"connectionTimeout": 250, "validationTimeout": 250},
             "jdbc": ${dialect === 'ORACLE' ? '{"oracle.net.CONNECT_TIMEOUT": "500"}' : '{}'}}`) as JsonObject;

/** What a port may hold in place of the server that was meant. */
const STRANGERS: Readonly<Record<string, (socket: Socket) => void>> = {
  'never says a word': () => undefined,
  'hangs up at once': (socket) => void socket.end(),
  'hangs up when it is spoken to': (socket) => void socket.once('data', () => socket.destroy()),
  'is a web server': (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\nServer: nginx\r\n\r\n<html>'),
  'answers with noise': (socket) => {
    const noise = Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 2_654_435_761) >>> 24));
    socket.write(noise);
    socket.on('data', () => socket.write(noise));
  },
  'claims a packet of two gigabytes': (socket) => {
    socket.write(Buffer.from([0x52, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]));
    socket.on('data', () => socket.write(Buffer.from([0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff])));
  },
};

/** A port that behaves so, and the sockets still open on it. */
async function listening(behaves: (socket: Socket) => void): Promise<{ server: Server; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    behaves(socket);
    // Who does not read never hears that the other side is gone.
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, sockets };
}

const hostOf = (server: Server): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;

describe('a datasource whose server is not what it should be', () => {
  const scene = datasourceScene();
  const ports: { server: Server; sockets: Set<Socket> }[] = [];

  afterEach(() => {
    for (const { server, sockets } of ports.splice(0)) {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });

  const register = async (name: string, dialect: keyof typeof URLS, host: string): Promise<void> => {
    await scene.bench.service.create(
      scene.team.admin,
      scene.body({
        ...{ name, dialect, jdbc_url: URLS[dialect](host), properties: PROPERTIES(dialect) },
        credential: { kind: 'password', username: 'planted_user', secret: SECRET },
      }),
    );
  };

  /** What a test, a look at the catalog and a lease say; none of them says anything secret. */
  const complaints = async (name: string): Promise<[string, string, string, string]> => {
    const outcome = await scene.bench.service.test(scene.team.admin, name);
    const looked = await refusal(scene.bench.introspection.schemas(scene.team.admin, name));
    const lease = (await scene.bench.pools
      .lease(name, 'read', NEVER)
      .catch((error: unknown) => error)) as DriverFailure;
    const told = JSON.stringify([outcome, looked, lease, await scene.bench.service.read(scene.team.admin, name)]);
    expect(told).not.toContain(SECRET);
    expect(`${outcome.error} ${lease.message}`).not.toMatch(/planted_user|jdbc:/);
    expect([name, outcome.connected, outcome.error]).toEqual([name, false, expect.stringMatching(/\S/)]);
    return [name, looked.code, lease.kind, outcome.error_class ?? ''];
  };

  it.each(DIALECTS)('%s tells it within its time, as a failed connection, and lets go', async (dialect) => {
    const expected: unknown[] = [];
    for (const [index, [, behaves]] of Object.entries(STRANGERS).entries()) {
      const port = await listening(behaves);
      ports.push(port);
      await register(`stranger-${index}`, dialect, hostOf(port.server));
      expected.push([`stranger-${index}`, UNREACHABLE, 'connection', expect.stringMatching(/\S/)]);
    }
    const closed = await listening(() => undefined);
    const nobody = hostOf(closed.server);
    await new Promise((resolve) => closed.server.close(resolve));
    await register('nobody-listens', dialect, nobody);
    expected.push(['nobody-listens', UNREACHABLE, 'connection', expect.stringMatching(/^(?:ECONNREFUSED|NJS-503)$/)]);
    await register('no-such-name', dialect, 'db.nowhere.invalid');
    const unknown = expect.stringMatching(/^(?:ENOTFOUND|EAI_AGAIN|ETIMEDOUT)$/) as unknown;
    expected.push(['no-such-name', UNREACHABLE, 'connection', unknown]);

    const names = [...Object.keys(STRANGERS).keys()].map((index) => `stranger-${index}`);
    const told = await Promise.all([...names, 'nobody-listens', 'no-such-name'].map(complaints));
    expect(told).toEqual(expected);
    const letGo = (): boolean => ports.every(({ sockets }) => sockets.size === 0);
    expect(await eventually(() => Promise.resolve(letGo()))).toBe(true);
  });
});
