import { describe, expect, it } from '@jest/globals';
import express from 'express';
import request from 'supertest';
import { cors, REQUEST_HEADERS } from './cors.js';

const OURS = 'https://app.example.org';
const app = express();
app.use(cors([OURS]));
app.use((_request, response) => void response.end('answered'));

const preflight = (origin: string) =>
  request(app).options('/api/v1/x').set({ Origin: origin, 'Access-Control-Request-Method': 'PUT' });

describe('other origins', () => {
  it('gives a known one everything it needs, exactly, and to its credentials', async () => {
    const { status, headers, text } = await preflight(OURS);
    expect([status, text, headers['access-control-allow-origin'], headers['access-control-allow-credentials']]).toEqual([204, '', OURS, 'true']);
    expect(headers['access-control-allow-methods']).toBe('GET, POST, PUT, PATCH, DELETE, OPTIONS');
    expect(headers['access-control-allow-headers']).toBe(REQUEST_HEADERS.join(', '));
    expect(headers['access-control-max-age']).toBe('3600');
    const plain = await request(app).get('/api/v1/x').set('Origin', OURS);
    expect([plain.text, plain.headers['access-control-allow-origin']]).toEqual(['answered', OURS]);
    expect(plain.headers['access-control-expose-headers']).toContain('DP-Correlation-Id');
  }); // prettier-ignore

  it.each(['https://evil.example', `${OURS}.evil.example`, `${OURS}/`, OURS.toUpperCase(), 'http://app.example.org', 'null', '*'])(
    'says nothing to %s',
    async (origin) => {
      for (const answer of [await preflight(origin), await request(app).get('/').set('Origin', origin)]) {
        expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
        expect(answer.headers['vary']).toBe('Origin');
      }
    },
  ); // prettier-ignore

  it('is no preflight without the method that is asked for', async () => {
    expect((await request(app).options('/').set('Origin', OURS)).text).toBe('answered');
  });
});
