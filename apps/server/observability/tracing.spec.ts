import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { trace } from '@opentelemetry/api';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { loadConfiguration, SilentLogger } from '#libs/kernel';
import { startTracing } from './tracing.js';

let collector: Server;
let sockets: Socket[];
const asked: string[] = [];

beforeEach(async () => {
  sockets = [];
  collector = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => asked.push(bytes.toString('latin1').split('\r\n', 1)[0] ?? ''));
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => collector.close(resolve));
});

describe('the end of tracing', () => {
  it('is clean although the collector takes the spans and never answers', async () => {
    const { port } = collector.address() as AddressInfo;
    const configuration = loadConfiguration({
      DATAPIPELINES_OBSERVABILITY_TRACING_ENABLED: 'true',
      DATAPIPELINES_OBSERVABILITY_TRACING_ENDPOINT: `http://127.0.0.1:${port}/v1/traces`,
      DATAPIPELINES_OBSERVABILITY_TRACING_REQUEST_PERCENT: '100',
    });
    const stop = await startTracing(configuration, '1.0.0', new SilentLogger());
    const span = trace.getTracer('test').startSpan('request');
    expect(span.isRecording()).toBe(true);
    span.end();
    await expect(stop()).resolves.toBeUndefined();
    expect(asked).toEqual(['POST /v1/traces HTTP/1.1']);
    expect(trace.getTracer('test').startSpan('later').isRecording()).toBe(false);
  });
});
