import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { oneNodePipeline } from '../fixtures/authoring.js';
import { Deployment } from '../fixtures/deployment.js';
import { eventually } from '../fixtures/eventually.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { RawConnection } from '../fixtures/raw-http.js';

const GIB = 2 ** 30;
const CHUNK = Buffer.alloc(65_536, 0x20);
/** What kernels on both sides and the runtime hold of a stream that nobody reads on. */
const IN_FLIGHT = 16 * 2 ** 20;
/** Loose: what a garbage collector that is in no hurry may leave. */
const BREATH = 96 * 2 ** 20;

interface Outcome {
  status: number | undefined;
  code: string | undefined;
  /** Bytes that left this client. */
  sent: number;
}

/** As REST and as GraphQL tell it. */
interface Refusal {
  error?: { code: string };
  errors?: { extensions: { code: string } }[];
}

describeWithProgram('redis-server', 'bodies without an end', (redis) => {
  let deployment: Deployment;

  beforeAll(async () => {
    deployment = await Deployment.start({ redis });
    await oneNodePipeline(deployment.author, {
      ...{ name: 'big/one', source: 'tempdb', dialect: 'DUCKDB', sql: 'SELECT 1 AS n' },
    });
    await deployment.author.data('POST', '/api/v1/endpoints', { path: '/big', pipeline: 'big/one' });
  }, 90_000);
  afterAll(() => deployment?.stop());

  const doors: [label: string, method: string, path: string, limit: number | undefined][] = [
    ['REST', 'POST', '/api/v1/pipelines', 2 * 2 ** 20],
    ['a document that is checked', 'POST', '/api/v1/pipelines/validate', 2 * 2 ** 20],
    ['an import', 'POST', '/api/v1/pipelines/import', 32 * 2 ** 20],
    ['an import of templates', 'POST', '/api/v1/templates/import', 32 * 2 ** 20],
    ['GraphQL', 'POST', '/graphql', 2 ** 20],
    ['a subscription', 'POST', '/graphql/stream', 2 ** 20],
    ['MCP', 'POST', '/mcp', 2 * 2 ** 20],
    ['the sign-in', 'POST', '/login', 2 * 2 ** 20],
    // Nothing reads the body of a GET: it is answered, and the connection ends under what still comes.
    ['a published endpoint', 'GET', '/api/x/big', undefined],
  ];

  const memory = () => {
    const pages = readFileSync(`/proc/${deployment.server.process.pid}/statm`, 'utf8').split(' ')[1];
    return Number(pages) * 4096;
  };

  /** Sends until a GiB is out or the server has ended the connection. */
  function pour(method: string, path: string, headers: Record<string, string>, stops = true): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(deployment.server.baseUrl);
      const outcome: Outcome = { status: undefined, code: undefined, sent: 0 };
      const sending = request(
        { hostname, port, method, path, agent: false, headers: { 'Transfer-Encoding': 'chunked', ...headers } },
        (response) => {
          let text = '';
          outcome.status = response.statusCode;
          response.setEncoding('utf8');
          response.on('data', (part: string) => (text += part));
          response.on('end', () => {
            const { error, errors } = JSON.parse(text) as Refusal;
            outcome.code = error?.code ?? errors?.[0]?.extensions.code;
            if (stops) sending.destroy();
          });
          response.on('error', () => undefined);
        },
      );
      sending.on('error', (error: NodeJS.ErrnoException) => {
        // An end of the connection under what is still being sent is one of the ways to refuse it.
        if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error);
      });
      sending.on('close', () => resolve(outcome));
      const more = (): void => {
        while (!sending.destroyed && outcome.sent < GIB) {
          outcome.sent += CHUNK.length;
          if (!sending.write(CHUNK)) return;
        }
        sending.end();
      };
      sending.on('drain', more);
      more();
    });
  }

  it.each(doors)(
    '%s: a GiB in pieces is refused at the limit, and the server holds none of it',
    async (...door) => {
      const [, method, path, limit] = door;
      const headers = { 'DP-API-Key': deployment.authorKey, 'Content-Type': 'application/json', Accept: '*/*' };
      if (path === '/login') Reflect.deleteProperty(headers, 'DP-API-Key');
      const before = memory();
      const outcomes = await Promise.all(
        ['keep-alive', 'close', 'close'].map((Connection) => pour(method, path, { ...headers, Connection })),
      );
      for (const { status, code, sent } of outcomes) {
        if (limit === undefined) expect(status).toBe(200);
        // Sign-in is refused for its CSRF token before anybody looks at the size.
        else if (path === '/login') expect([403, 413]).toContain(status);
        else expect([status, code]).toEqual([413, 'request.body_too_large']);
        expect(sent).toBeLessThan((limit ?? 0) + 4 * IN_FLIGHT);
      }
      expect(memory() - before).toBeLessThan(3 * Math.min(limit ?? 0, 32 * 2 ** 20) + BREATH);
    },
    30_000,
  );

  it.each(doors)(
    '%s: a GiB that announces itself is refused before one byte of it is read, and before anybody is asked who he is',
    async (_label, method, path) => {
      const connection = await RawConnection.open(deployment.server.baseUrl);
      connection.write(
        `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${GIB}\r\nConnection: close\r\n\r\n`,
      );
      await eventually('an answer', () => Promise.resolve(connection.received.includes('}')));
      connection.socket.destroy();
      expect(connection.received).toMatch(/^HTTP\/1\.1 413 /);
      expect(connection.received).toContain('"request.body_too_large"');
    },
  );

  it.each(['keep-alive', 'close'])(
    'a client that sends on after it was refused is cut off (%s)',
    async (kept) => {
      const headers = { 'DP-API-Key': deployment.authorKey, 'Content-Type': 'application/json', Connection: kept };
      const { status, sent } = await pour('POST', '/api/v1/pipelines', headers, false);
      expect(status).toBe(413);
      expect(sent).toBeLessThan(8 * IN_FLIGHT);
    },
    30_000,
  );

  it('two hundred clients that send a header line for ever are ended by the clock, and others are served meanwhile', async () => {
    const before = memory();
    const slow = await Promise.all(Array.from({ length: 200 }, () => RawConnection.open(deployment.server.baseUrl)));
    const drip = setInterval(() => {
      for (const connection of slow) if (connection.socket.writable) connection.write('X-Drip: drop\r\n');
    }, 500);
    for (const connection of slow) connection.write('GET /health HTTP/1.1\r\nHost: x\r\n');
    try {
      for (let n = 0; n < 20; n++) {
        expect((await deployment.author.call('GET', '/api/v1/auth/me')).status).toBe(200);
      }
      await Promise.all(slow.map(({ closed }) => closed));
    } finally {
      clearInterval(drip);
      for (const { socket } of slow) socket.destroy();
    }
    const answers = new Set(slow.map(({ received }) => received.slice(0, 12)));
    expect([...answers]).toEqual(['HTTP/1.1 408']);
    expect(memory() - before).toBeLessThan(BREATH);
  }, 30_000);
});
