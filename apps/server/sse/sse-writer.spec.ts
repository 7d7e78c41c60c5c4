import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Response } from 'express';
import { Heartbeats } from './heartbeats.js';
import { SseBlock } from './sse-block.js';
import { SseWriter, type SseWriterOptions } from './sse-writer.js';

const QUIET: SseWriterOptions = {
  beats: new Heartbeats(60_000),
  maxBufferBytes: 1_000_000,
  stillAllowed: () => Promise.resolve(true),
};
const open: (Server | Socket)[] = [];

/** A stream over a real socket: the writer, and the reader's end. */
async function stream(options: Partial<SseWriterOptions>, method = 'GET', version = '1.1'): Promise<{ writer: SseWriter; reader: Socket; text: () => string }> {
  let opened: (writer: SseWriter) => void = () => undefined;
  const written = new Promise<SseWriter>((resolve) => (opened = resolve));
  const server = createServer((_request, response: ServerResponse) => {
    const answer = Object.assign(response, { status: (code: number) => Object.assign(response, { statusCode: code }) });
    const writer = new SseWriter(answer as unknown as Response, { ...QUIET, ...options });
    writer.open({ 'DP-Execution-Id': 'x' });
    opened(writer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const reader = connect((server.address() as AddressInfo).port, '127.0.0.1');
  open.push(server, reader);
  let received = '';
  reader.on('data', (chunk: Buffer) => (received += chunk.toString()));
  reader.on('error', () => undefined);
  reader.write(`${method} / HTTP/${version}\r\nHost: x\r\n\r\n`);
  return { writer: await written, reader, text: () => received };
} // prettier-ignore

afterEach(() => {
  for (const each of open.splice(0)) {
    if ('destroy' in each) each.destroy();
    else each.close().closeAllConnections();
  }
});

const FRAME = 'id: 1\nevent: node_started\ndata: {}\n\n';
const FIRST = new SseBlock(FRAME);
const ofLength = (bytes: number): SseBlock => new SseBlock(`data: ${'x'.repeat(bytes)}\n\n`);

describe('a stream of events', () => {
  it('opens with its headers and the time to reconnect, then says what it is told, then ends', async () => {
    const { writer, reader, text } = await stream({});
    await writer.send([FIRST]);
    writer.end();
    expect(await writer.closed).toBe('ended');
    await once(reader, 'data').catch(() => undefined);
    for (const part of ['text/event-stream; charset=utf-8', 'no-store, no-transform', 'X-Accel-Buffering: no', 'DP-Execution-Id: x', 'retry: 3000\n\n', FRAME]) expect(text()).toContain(part);
  }); // prettier-ignore

  it('is a body that HTTP clients can read, whatever its letters and however many blocks go together', async () => {
    const texts = ['data: äöü ✓ 🌍\n\n', `data: ${'x'.repeat(70_000)}\n\n`, 'data: {}\n\n'];
    const server = createServer((_request, response: ServerResponse) => {
      const answer = Object.assign(response, { status: () => response });
      const writer = new SseWriter(answer as unknown as Response, QUIET);
      writer.open({});
      void Promise.resolve(writer.send(texts.map((text) => new SseBlock(text)))).then(() => writer.end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.push(server);
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    expect(await answer.text()).toBe(`retry: 3000\n\n${texts.join('')}`);
  });

  it('has no chunks for a client that knows none', async () => {
    const { writer, text, reader } = await stream({}, 'GET', '1.0');
    await writer.send([FIRST]);
    writer.end();
    await once(reader, 'end').catch(() => undefined);
    expect(text()).toMatch(/\r\n\r\nretry: 3000\n\nid: 1\nevent: node_started\ndata: \{\}\n\n$/);
  });

  it('waits for its turn behind an earlier answer of the same connection', async () => {
    const answers: ServerResponse[] = [];
    const server = createServer((request, response: ServerResponse) => {
      if (request.url === '/first') return void answers.push(response);
      const answer = Object.assign(response, { status: () => response });
      const writer = new SseWriter(answer as unknown as Response, QUIET);
      writer.open({});
      void writer.send([FIRST]);
      void writer.send([FIRST, FIRST]);
      setImmediate(() => answers[0]!.end('the first answer'));
      setTimeout(() => {
        void writer.send([FIRST]);
        writer.end();
      }, 20);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const reader = connect((server.address() as AddressInfo).port, '127.0.0.1');
    open.push(server, reader);
    let received = '';
    reader.on('data', (chunk: Buffer) => (received += chunk.toString()));
    const request = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
    reader.write(request('/first') + request('/stream', 'Connection: close\r\n'));
    await once(reader, 'end');
    const [first, second] = received.split('the first answer');
    expect(first).toContain('HTTP/1.1 200');
    expect(second!.split(FRAME)).toHaveLength(5);
    expect(second).toMatch(/^HTTP\/1\.1 200[\s\S]*\r\n0\r\n\r\n$/);
  });

  it('tells HEAD what GET would get, and holds nothing open', async () => {
    const { writer, reader, text } = await stream({}, 'HEAD');
    expect(await writer.closed).toBe('ended');
    await writer.send([FIRST]);
    await once(reader, 'data').catch(() => undefined);
    expect(text()).toContain('text/event-stream');
    expect(text()).not.toContain('retry');
  });

  it('ends at a reader that takes nothing once the buffer is over its limit; nothing waits for it', async () => {
    const { writer, reader } = await stream({ maxBufferBytes: 200_000 });
    reader.pause();
    const block = ofLength(100_000);
    let sent = 0;
    // Each send waits for the socket at most: without an end this loop would never leave.
    const sending = (async () => {
      while (sent < 1000 && writer.isOpen) {
        sent++;
        void writer.send([block]);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    expect(await writer.closed).toBe('overflow');
    await sending;
    expect(sent).toBeLessThan(1000);
  });

  it('ends at a reader that has stalled, however little is waiting', async () => {
    const { writer, reader } = await stream({ stallMs: 50, maxBufferBytes: Number.MAX_SAFE_INTEGER });
    reader.pause();
    const block = ofLength(1_000_000);
    for (let sent = 0; sent < 100 && writer.isOpen; sent++) await writer.send([block]);
    expect(await writer.closed).toBe('overflow');
  });

  it('gives a reader that has stalled half a minute', async () => {
    jest.useFakeTimers({
      doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'setInterval', 'Date', 'performance'],
    });
    try {
      const { writer, reader } = await stream({ maxBufferBytes: Number.MAX_SAFE_INTEGER });
      reader.pause();
      const block = ofLength(1_000_000);
      let taken = true;
      const sent = (): void => void (taken = true);
      for (let blocks = 0; blocks < 100 && taken; blocks++) {
        taken = false;
        void Promise.resolve(writer.send([block])).then(sent);
        for (let turns = 0; turns < 200 && !taken; turns++) await new Promise(setImmediate);
      }
      jest.advanceTimersByTime(29_999);
      expect(writer.isOpen).toBe(true);
      jest.advanceTimersByTime(1);
      expect(await writer.closed).toBe('overflow');
    } finally {
      jest.useRealTimers();
    }
  });

  it('says it lives while there is nothing to say', async () => {
    const { writer, reader, text } = await stream({ beats: new Heartbeats(20) });
    while (!text().includes(': heartbeat\n\n')) await once(reader, 'data');
    writer.end();
    expect(await writer.closed).toBe('ended');
  });

  it('ends when the right to watch is lost, and asks no more', async () => {
    let asked = 0;
    const stillAllowed = () => Promise.resolve(++asked < 3);
    const { writer, reader, text } = await stream({ beats: new Heartbeats(20), stillAllowed });
    expect(await writer.closed).toBe('revoked');
    while (!text().includes(': revoked\n\n')) await once(reader, 'data');
    expect(asked).toBe(3);
  });

  it('lets go when the reader is gone, also while a block waits for the socket', async () => {
    const { writer, reader } = await stream({ maxBufferBytes: Number.MAX_SAFE_INTEGER });
    reader.pause();
    const block = ofLength(1_000_000);
    const sending = (async () => {
      for (let sent = 0; sent < 100 && writer.isOpen; sent++) await writer.send([block]);
    })();
    reader.destroy();
    expect(await writer.closed).toBe('client_disconnect');
    await sending;
    await writer.send([FIRST]);
  });
});
