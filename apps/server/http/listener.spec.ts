import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { parseAnswer, RawConnection } from '../../../test/fixtures/raw-http.js';
import { CONNECTION_LIMITS, HttpListener } from './listener.js';

const DRIP_MS = 25;
/** A fiftieth of the real times, so that nobody waits a minute. */
const SCALED = {
  ...CONNECTION_LIMITS,
  headersTimeout: CONNECTION_LIMITS.headersTimeout / 50,
  requestTimeout: CONNECTION_LIMITS.requestTimeout / 50,
  connectionsCheckingInterval: CONNECTION_LIMITS.connectionsCheckingInterval / 50,
};

describe('a client that takes its time', () => {
  let server: Server;
  let baseUrl: string;
  let read: number;

  beforeEach(async () => {
    const door = express();
    read = 0;
    // As every door does: the body is read to its end, whatever it is, and then answered.
    door.post('/read', (request, response) => {
      request.on('data', (part: Buffer) => (read += part.length));
      request.on('end', () => void response.json({ read }));
    });
    const listener = new HttpListener(door, '', SCALED);
    listener.initHttpServer();
    server = listener.getHttpServer() as Server;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  async function dripping(head: string, drop: string): Promise<RawConnection> {
    const connection = await RawConnection.open(baseUrl);
    connection.write(head);
    const timer = setInterval(() => connection.socket.writable && connection.write(drop), DRIP_MS);
    await connection.closed;
    clearInterval(timer);
    return connection;
  }

  it('has ten seconds for its headers and a minute for all of its request', () => {
    expect(CONNECTION_LIMITS).toMatchObject({
      headersTimeout: 10_000,
      requestTimeout: 60_000,
      keepAliveTimeout: 75_000,
    });
  });

  it.each([
    ['a length it never reaches', 'Content-Length: 100000', 'x'],
    ['pieces without an end', 'Transfer-Encoding: chunked', '1\r\nx\r\n'],
  ])('is ended by the clock while its body drips, though no byte of it is late: %s', async (_what, framing, drop) => {
    // A limit on the silence between two bytes would never end it.
    const { received } = await dripping(`POST /read HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n`, drop);
    const answer = parseAnswer(received);
    expect([answer.status, answer.body.error.code]).toEqual([408, 'request.timeout']);
    expect(answer.headers.get('Connection')).toBe('close');
    expect(read).toBeGreaterThan(10);
  });

  it('is ended sooner while its headers drip, and never reaches a handler', async () => {
    const { received } = await dripping('POST /read HTTP/1.1\r\nHost: x\r\n', 'X-Drip: drop\r\n');
    expect(parseAnswer(received).body.error.code).toBe('request.timeout');
    expect(read).toBe(0);
  });
});
