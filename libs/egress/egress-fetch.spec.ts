import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EgressPolicy, type EgressRules } from './egress-policy.js';
import { AnswerTooLarge, egressFetch, type EgressRequest } from './egress-fetch.js';

const RULES: EgressRules = { refuseLoopback: false, allow: [], deny: [], services: [] };
const LIMITS = { timeoutMs: 2000, maxBytes: 1000 };

describe('a request under the egress policy', () => {
  let server: Server;
  let base: string;
  let lookups: string[];
  const seen: { path: string; host: string | undefined; body: string }[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => void answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://idp.example:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  beforeEach(() => {
    lookups = [];
    seen.length = 0;
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    seen.push({ path: request.url ?? '', host: request.headers.host, body });
    if (request.url === '/elsewhere') response.writeHead(302, { Location: `${base}/` }).end();
    else if (request.url === '/endless') response.write('x'.repeat(2000));
    else if (request.url === '/silent') response.write('x');
    else if (request.url === '/empty') response.writeHead(204).end();
    else response.writeHead(200, { 'Set-Cookie': ['a=1', 'b=2'] }).end('{"ok":true}');
  }

  const send = (url: string, rules: Partial<EgressRules> = {}, request: EgressRequest = {}, limits = LIMITS) =>
    egressFetch(
      new EgressPolicy({ ...RULES, ...rules }, async (host) => {
        lookups.push(host);
        // A name that means something else at every look: the checked address must be the one that is dialled.
        return [{ address: lookups.length === 1 ? '127.0.0.1' : '169.254.169.254', family: 4 }];
      }),
      new URL(url),
      request,
      limits,
    );

  it('dials the address that was checked, under the name that was meant', async () => {
    const response = await send(
      `${base}/a?b=c`,
      {},
      { method: 'POST', body: 'ü', headers: { accept: 'application/json' } },
    );
    expect(await response.json()).toEqual({ ok: true });
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(lookups).toEqual(['idp.example']);
    expect(seen).toEqual([{ path: '/a?b=c', host: new URL(base).host, body: 'ü' }]);
  });

  it('refuses what the policy refuses, before anything is sent', async () => {
    const refused = { code: 'datasource.validation.host_forbidden' };
    await expect(send(base, { refuseLoopback: true })).rejects.toMatchObject({
      ...refused,
      details: { rule: 'loopback' },
    });
    await expect(send('ftp://idp.example/')).rejects.toMatchObject({ ...refused, details: { rule: 'scheme' } });
    expect(seen).toEqual([]);
  });

  it('takes an answer without a body', async () => {
    expect((await send(`${base}/empty`)).status).toBe(204);
  });

  it('follows no redirect', async () => {
    const response = await send(`${base}/elsewhere`);
    expect(response.status).toBe(302);
    expect(seen).toHaveLength(1);
  });

  it('ends an answer that is too large, and one that never ends', async () => {
    await expect(send(`${base}/endless`)).rejects.toBeInstanceOf(AnswerTooLarge);
    lookups = [];
    await expect(send(`${base}/silent`, {}, {}, { ...LIMITS, timeoutMs: 200 })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
  });

  it('ends with the caller', async () => {
    const stop = new AbortController();
    const sent = send(`${base}/silent`, {}, { signal: stop.signal });
    setTimeout(() => stop.abort(), 50);
    await expect(sent).rejects.toMatchObject({ name: 'AbortError' });
  });
});
