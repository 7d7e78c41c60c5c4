import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Response } from 'express';
import { SseWriter, STREAM_ENDED } from './sse-writer.js';

let server: Server;
let agent: Agent;
/** What the next request is answered with. */
let answer: (writer: SseWriter) => Promise<void>;
let last: SseWriter;

beforeEach(async () => {
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
  server = createServer((_request, response) => {
    const stream = Object.assign(response, {
      status: (code: number) => Object.assign(response, { statusCode: code }),
    }) as unknown as Response;
    last = new SseWriter(stream, {
      heartbeatMs: 60_000,
      maxBufferBytes: 1 << 20,
      stillAllowed: () => Promise.resolve(true),
    });
    last.open({});
    void answer(last);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  agent.destroy();
  server.closeAllConnections();
  server.close();
});

async function get(): Promise<string> {
  const sent = request({ agent, host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk as string;
  return text;
}

const FRAMES = [1, 2, 3].map((id) => `id: ${id}\ndata: {}\n\n`);
const WHOLE = `retry: 3000\n\n${FRAMES.join('')}`;

describe('an event stream', () => {
  it('keeps every frame before its end, though they leave together, and the connection serves the next stream', async () => {
    answer = async (writer) => {
      for (const frame of FRAMES) await writer.send(frame);
      writer.end();
    };
    // A frame behind the end of its response would be read as the beginning of the next one.
    for (let stream = 0; stream < 5; stream += 1) expect(await get()).toBe(WHOLE);
    expect(await last.closed).toBe('ended');
    expect(last.signal.reason).toBe(STREAM_ENDED);
  });

  it('sends what it has at once: nobody waits for a frame because no other follows', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    answer = async (writer) => {
      await writer.send(FRAMES[0]!);
      await held;
      writer.endWith('record-unavailable', 'ended');
    };
    const sent = request({ agent, host: '127.0.0.1', port: (server.address() as AddressInfo).port });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      // Only the arrival of the frame lets the stream go on.
      if (text.endsWith(FRAMES[0]!)) release();
    });
    await once(response, 'end');
    expect(text).toBe(`retry: 3000\n\n${FRAMES[0]}: record-unavailable\n\n`);
  });

  it('holds a writer back while a large frame is on its way, and loses none of it', async () => {
    const large = `data: ${'x'.repeat(900_000)}\n\n`;
    answer = async (writer) => {
      for (let frame = 0; frame < 5; frame += 1) await writer.send(large);
      writer.end();
    };
    expect(await get()).toBe(`retry: 3000\n\n${large.repeat(5)}`);
  });
});
