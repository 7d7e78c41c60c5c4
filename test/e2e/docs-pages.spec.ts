import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Deployment } from '../fixtures/deployment.js';
import { root } from '../fixtures/keeper-state.js';
import { describeWithProgram } from '../fixtures/programs.js';

describeWithProgram('redis-server', 'the reference of every interface', (redis) => {
  let deployment: Deployment;

  beforeAll(async () => {
    deployment = await Deployment.start({ redis });
  }, 90_000);
  afterAll(() => deployment?.stop());

  it.each([
    ['/docs/pipeline.schema.json', 'application/schema+json; charset=utf-8'],
    ['/docs/openapi.json', 'application/json; charset=utf-8'],
    ['/docs/schema.graphql', 'text/plain; charset=utf-8'],
    ['/docs/errors', 'text/html; charset=utf-8'],
  ])('%s is read by anybody, and sent again only when it changed', async (path, type) => {
    const url = `${deployment.server.baseUrl}${path}`;
    const first = await fetch(url);
    expect([first.status, first.headers.get('content-type'), first.headers.get('cache-control')]).toEqual([
      200,
      type,
      'no-cache',
    ]);
    expect((await first.text()).length).toBeGreaterThan(1000);
    const etag = first.headers.get('etag')!;
    expect(etag).toMatch(/^"[0-9a-f]{16}"$/);
    const again = await fetch(url, { headers: { 'If-None-Match': `"other", W/${etag}` } });
    expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, '']);
    expect((await fetch(url, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200);
  });

  it('every error leads to its own place on the page of errors: no link to it ends at the top', async () => {
    const page = await (await fetch(`${deployment.server.baseUrl}/docs/errors`)).text();
    const places = [...page.matchAll(/<div id="([^"]+)">/g)].map(([, code]) => code);
    const written = readFileSync(join(root, 'docs/generated/errors.md'), 'utf8');
    const codes = [...written.matchAll(/^<a id="([^"]+)"><\/a>$/gm)].map(([, code]) => code);
    expect(places.sort()).toEqual(codes.sort());
    expect(new Set(places).size).toBeGreaterThan(250);
    const { body } = await deployment.author.call('GET', '/api/v1/pipelines?limit=ten');
    expect(places).toContain(body.error.doc_url.split('/docs/errors#')[1]);
  });

  it.each(['/', '/login', '/reset-password', '/settings/password'])(
    '%s is sent again only when it changed, and never to a browser it is not for',
    async (path) => {
      const browser = deployment.admin;
      const first = await browser.call('GET', path);
      const etag = first.headers.get('ETag') ?? '';
      expect([first.status, first.headers.get('Cache-Control')]).toEqual([200, 'no-cache']);
      expect(etag).toMatch(/^"[0-9a-f]{16}"$/);
      const again = await browser.call('GET', path, undefined, { headers: { 'If-None-Match': etag } });
      expect([again.status, again.text]).toEqual([304, '']);
      // Signed out, the tag opens nothing: where the page is for people who signed in, the way leads to the door.
      const url = `${deployment.server.baseUrl}${path}`;
      const headers = { 'If-None-Match': etag, Accept: 'text/html' };
      const stranger = await fetch(url, { headers, redirect: 'manual' });
      expect(stranger.status).toBe(path === '/' || path === '/settings/password' ? 302 : 304);
    },
  );
});
