import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import { DriverFailure } from './driver-failure.js';
import { PostgresWire } from './postgres/wire.js';

describe('a server that falls silent', () => {
  let server: Server;
  let socket: Socket;

  beforeEach(async () => {
    server = createServer((peer) => peer.on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
  });

  afterEach(() => {
    socket.destroy();
    server.close();
  });

  const heard = (wire: PostgresWire) =>
    new Promise<DriverFailure>((closed) => wire.exchange([Buffer.from('x')], { message: () => undefined, closed }));

  it('is given up although the connection lay idle for longer than that before', async () => {
    const wire = new PostgresWire(socket);
    wire.onSocketTimeout(50);
    await delay(150);
    expect(wire.isLost).toBe(false);
    expect((await heard(wire)).driverCode).toBe('ETIMEDOUT');
  });

  it('is given up although its reader was busy elsewhere for longer than that before', async () => {
    const wire = new PostgresWire(socket);
    wire.onSocketTimeout(50);
    const failure = heard(wire);
    wire.pause();
    await delay(150);
    expect(wire.isLost).toBe(false);
    wire.resume();
    expect((await failure).driverCode).toBe('ETIMEDOUT');
  });
});
