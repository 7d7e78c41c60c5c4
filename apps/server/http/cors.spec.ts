import { describe, expect, it } from '@jest/globals';
import express from 'express';
import { callApp } from '../../../test/fixtures/serve-app.js';
import { cors } from './cors.js';

const OURS = 'https://app.example.org';
const app = express();
app.use(cors([OURS]));
app.use((_request, response) => void response.end('answered'));

/** 03 §2: what a request may carry, and what a page must be able to read of an answer. */
const SENT = [
  'DP-API-Key', 'DP-Correlation-Id', 'DP-CSRF-Token', 'DP-Workspace', 'DP-Result-TTL-Seconds', 'DP-Result-Page-Rows', 'DP-Promotion-Key',
  'DP-Task-Id', 'Idempotency-Key', 'If-Match', 'If-None-Match', 'Last-Event-ID', 'Prefer', 'Authorization', 'Content-Type', 'Accept',
]; // prettier-ignore
const READ = [
  'DP-Correlation-Id', 'DP-Execution-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After', 'ETag', 'Location',
]; // prettier-ignore

const preflight = (origin: string) =>
  callApp(app, 'OPTIONS', '/api/v1/x', { Origin: origin, 'Access-Control-Request-Method': 'PUT' });

describe('other origins', () => {
  it('gives a known one everything it needs, exactly, and to its credentials', async () => {
    const { status, headers, text } = await preflight(OURS);
    expect([status, text, headers.get('access-control-allow-origin'), headers.get('access-control-allow-credentials')]).toEqual([204, '', OURS, 'true']);
    expect(headers.get('access-control-allow-methods')).toBe('GET, POST, PUT, PATCH, DELETE, OPTIONS');
    expect(headers.get('access-control-allow-headers')?.split(', ')).toEqual(expect.arrayContaining(SENT));
    expect(headers.get('access-control-max-age')).toBe('3600');
    const plain = await callApp(app, 'GET', '/api/v1/x', { Origin: OURS });
    expect([plain.text, plain.headers.get('access-control-allow-origin')]).toEqual(['answered', OURS]);
    expect(plain.headers.get('access-control-expose-headers')?.split(', ')).toEqual(expect.arrayContaining(READ));
  }); // prettier-ignore

  it('lets a page of a known origin speak to agents’ tools: what their clients send, and what they must read', async () => {
    const { headers } = await preflight(OURS);
    for (const sent of ['MCP-Protocol-Version', 'Mcp-Session-Id', 'Authorization', 'DP-API-Key', 'Last-Event-ID', 'Accept'])
      expect(headers.get('access-control-allow-headers')?.split(', ')).toContain(sent);
    for (const read of ['Mcp-Session-Id', 'WWW-Authenticate'])
      expect(headers.get('access-control-expose-headers')?.split(', ')).toContain(read);
  }); // prettier-ignore

  it.each(['https://evil.example', `${OURS}.evil.example`, `${OURS}/`, OURS.toUpperCase(), 'http://app.example.org', 'null', '*'])(
    'says nothing to %s',
    async (origin) => {
      for (const answer of [await preflight(origin), await callApp(app, 'GET', '/', { Origin: origin })]) {
        expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
        expect(answer.headers.get('vary')).toBe('Origin');
      }
    },
  ); // prettier-ignore

  it('is no preflight without the method that is asked for', async () => {
    expect((await callApp(app, 'OPTIONS', '/', { Origin: OURS })).text).toBe('answered');
  });
});
