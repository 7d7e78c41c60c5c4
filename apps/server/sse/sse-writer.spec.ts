import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Response } from 'express';
import { SseWriter, type SseWriterOptions } from './sse-writer.js';

const QUIET: SseWriterOptions = {
  heartbeatMs: 60_000,
  maxBufferBytes: 1_000_000,
  stillAllowed: () => Promise.resolve(true),
};
const open: (Server | Socket)[] = [];

/** A stream over a real socket: the writer, and the reader's end. */
async function stream(options: Partial<SseWriterOptions>, method = 'GET'): Promise<{ writer: SseWriter; reader: Socket; text: () => string }> {
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
  reader.write(`${method} / HTTP/1.1\r\nHost: x\r\n\r\n`);
  return { writer: await written, reader, text: () => received };
} // prettier-ignore

afterEach(() => {
  for (const each of open.splice(0)) {
    if ('destroy' in each) each.destroy();
    else each.close().closeAllConnections();
  }
});

const FRAME = 'id: 1\nevent: node_started\ndata: {}\n\n';

describe('a stream of events', () => {
  it('opens with its headers and the time to reconnect, then says what it is told, then ends', async () => {
    const { writer, reader, text } = await stream({});
    await writer.send(FRAME);
    writer.end();
    expect(await writer.closed).toBe('ended');
    await once(reader, 'data').catch(() => undefined);
    for (const part of ['text/event-stream; charset=utf-8', 'no-store, no-transform', 'X-Accel-Buffering: no', 'DP-Execution-Id: x', 'retry: 3000\n\n', FRAME]) expect(text()).toContain(part);
  }); // prettier-ignore

  it('tells HEAD what GET would get, and holds nothing open', async () => {
    const { writer, reader, text } = await stream({}, 'HEAD');
    expect(await writer.closed).toBe('ended');
    await writer.send(FRAME);
    await once(reader, 'data').catch(() => undefined);
    expect(text()).toContain('text/event-stream');
    expect(text()).not.toContain('retry');
  });

  it('ends at a reader that takes nothing once the buffer is over its limit; nothing waits for it', async () => {
    const { writer, reader } = await stream({ maxBufferBytes: 200_000 });
    reader.pause();
    const block = `data: ${'x'.repeat(100_000)}\n\n`;
    let sent = 0;
    // Each send waits for the socket at most: without an end this loop would never leave.
    const sending = (async () => {
      while (sent < 1000 && !writer.signal.aborted) {
        sent++;
        void writer.send(block);
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
    const block = `data: ${'x'.repeat(1_000_000)}\n\n`;
    for (let sent = 0; sent < 100 && !writer.signal.aborted; sent++) await writer.send(block);
    expect(await writer.closed).toBe('overflow');
  });

  it('says it lives while there is nothing to say', async () => {
    const { writer, reader, text } = await stream({ heartbeatMs: 20 });
    while (!text().includes(': heartbeat\n\n')) await once(reader, 'data');
    writer.end();
    expect(await writer.closed).toBe('ended');
  });

  it('ends when the right to watch is lost, and asks no more', async () => {
    let asked = 0;
    const stillAllowed = () => Promise.resolve(++asked < 3);
    const { writer, reader, text } = await stream({ heartbeatMs: 20, stillAllowed });
    expect(await writer.closed).toBe('revoked');
    while (!text().includes(': revoked\n\n')) await once(reader, 'data');
    expect(asked).toBe(3);
  });

  it('lets go when the reader is gone, also while a block waits for the socket', async () => {
    const { writer, reader } = await stream({ maxBufferBytes: Number.MAX_SAFE_INTEGER });
    reader.pause();
    const block = `data: ${'x'.repeat(1_000_000)}\n\n`;
    const sending = (async () => {
      for (let sent = 0; sent < 100 && !writer.signal.aborted; sent++) await writer.send(block);
    })();
    reader.destroy();
    expect(await writer.closed).toBe('client_disconnect');
    await sending;
    await writer.send(FRAME);
  });
});
