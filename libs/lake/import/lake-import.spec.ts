import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { lakeScene, refusal } from '../lake.fixture.js';

const scene = lakeScene({ DATAPIPELINES_LAKE_MANIFEST_TIMEOUT_SECONDS: '1' });
const root = (...parts: string[]): string => join(scene.folder, 'roots', ...parts);

/** Answers by path: a text as JSON, or whatever a function does with the response. */
let pages: Map<string, string | ((response: import('node:http').ServerResponse) => void)>;
let server: Server;
let base: string;
let asked: string[];

beforeEach(async () => {
  pages = new Map();
  asked = [];
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const page = pages.get(request.url ?? '');
    if (typeof page === 'function') page(response);
    else response.writeHead(page === undefined ? 404 : 200).end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  await scene.make(`COPY (SELECT 1 AS a) TO '${root('a.parquet')}'`, `COPY (SELECT 2 AS b) TO '${root('b.parquet')}'`);
  await scene.registered('lake', { properties: { dialect: { endpoint: base } } });
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const table = (name: string) => ({ name, format: 'parquet', path: `${name}.parquet` });
const manifest = (...names: string[]): string =>
  JSON.stringify({ namespace: 'shop', publish_prefix: `file://${root()}`, tables: names.map(table) });
const fetchFrom = (url: string, more = {}) =>
  scene.bench.imports.import(scene.team.author, 'lake', { manifest_url: url, ...more });
const count = async () => (await scene.bench.tables.list(scene.team.viewer, 'lake')).count;

describe('importing a publisher\u2019s manifest', () => {
  it('registers all its tables once, and leaves those alone that are there', async () => {
    pages.set('/m.json', manifest('a'));
    const first = await fetchFrom(`http://${base}/m.json`);
    expect([first.registered_count, first.registered[0]?.namespace]).toEqual([1, ['shop']]);
    pages.set('/m.json', manifest('a', 'b'));
    const second = await fetchFrom(`http://${base}/m.json`);
    expect([second.registered.map(({ name }) => name), second.already_registered_count]).toEqual([['b'], 1]);
    const other = await fetchFrom(`http://${base}/m.json`, { namespace: 'mine' });
    expect(other.registered.map(({ namespace }) => namespace)).toEqual([['mine'], ['mine']]);
    expect(await scene.bench.read('lake', 'SELECT a FROM shop.a UNION ALL SELECT b FROM mine.b')).toEqual([[1], [2]]);
  });

  it('looks at what is new alone: a table that broke since it was registered stops no import', async () => {
    pages.set('/m.json', manifest('a'));
    await fetchFrom(`http://${base}/m.json`);
    writeFileSync(root('a.parquet'), 'no parquet any more');
    pages.set('/m.json', manifest('a', 'b'));
    const { registered_count, already_registered_count } = await fetchFrom(`http://${base}/m.json`);
    expect([registered_count, already_registered_count]).toEqual([1, 1]);
  });

  it('registers all or none', async () => {
    pages.set('/m.json', manifest('a', 'missing'));
    const refused = await refusal(fetchFrom(`http://${base}/m.json`));
    expect(refused.failures).toEqual(['lake_table_unreadable tables[1]']);
    expect(await count()).toBe(0);
  });

  it.each([
    ['another host', () => 'http://example.org/m.json'],
    ['another port of the host', () => 'http://127.0.0.1:1/m.json'],
    ['a name of the person in it', () => `http://user:pw@${base}/m.json`],
    ['another scheme', () => `ftp://${base}/m.json`],
    ['a file', () => 'file:///etc/passwd'],
    ['no address', () => 'm.json'],
    ['the address of the cloud\u2019s secrets', () => 'http://169.254.169.254/latest/meta-data'],
  ])('asks %s for nothing', async (_what, url) => {
    expect((await refusal(fetchFrom(url()))).code).toBe('datasource.validation.lake_manifest_url_forbidden');
    expect(asked).toEqual([]);
  });

  it('goes to S3 of AWS alone, and by https, where no endpoint is declared', async () => {
    await scene.registered('aws', {});
    for (const url of ['http://b.s3.amazonaws.com/m', 'https://s3.amazonaws.com.evil.org/m', 'https://evil.org/s3.amazonaws.com', 'https://b.s3.amazonaws.com:444/m', 'https://es3.amazonaws.com/m'])
      expect([url, (await refusal(scene.bench.imports.import(scene.team.author, 'aws', { manifest_url: url }))).code]).toEqual([url, 'datasource.validation.lake_manifest_url_forbidden']);
  }); // prettier-ignore

  it('follows no redirect, reads no endless answer and keeps nothing of a broken one', async () => {
    pages.set('/away', (response) => response.writeHead(302, { location: `http://${base}/m.json` }).end());
    pages.set('/m.json', manifest('a'));
    pages.set('/large', (response) => response.end(Buffer.alloc(5 * 1024 * 1024 + 1, ' ')));
    pages.set('/cut', (response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"tables": [', () => response.destroy());
    });
    for (const path of ['/away', '/large', '/cut', '/none']) {
      const refused = await refusal(fetchFrom(`http://${base}${path}`));
      expect([path, refused.code]).toEqual([path, 'pipeline.execution.datasource_unreachable']);
    }
    expect(asked).toEqual(['/away', '/large', '/cut', '/none']);
    expect(await count()).toBe(0);
  });

  it('waits for a silent, a dripping and a stuck publisher no longer than it is told to, and says so', async () => {
    pages.set('/silent', () => undefined);
    pages.set('/dripping', (response) => void setInterval(() => response.write(' '), 50).unref());
    pages.set('/stuck', (response) => response.writeHead(200).flushHeaders());
    const refused = await Promise.all(['/silent', '/dripping', '/stuck'].map((path) => refusal(fetchFrom(`http://${base}${path}`))));
    expect(refused.map(({ code, details }) => [code, details['reason']])).toEqual(Array.from({ length: 3 }, () => ['pipeline.execution.datasource_unreachable', 'TimeoutError']));
    expect(refused[1]?.message).toMatch(/within 1 s .*manifest-timeout-seconds/);
    expect(await count()).toBe(0);
  }); // prettier-ignore

  it.each([
    ['no JSON', '{"tables": ['],
    ['another value', '"tables"'],
    ['no list', '{"tables": {}}'],
    ['an empty list', '{"tables": []}'],
    ['a list of other things', '[1, null, "x", []]'],
    ['a table with defects', '[{"name": "A B", "format": "csv", "location": "file:///../x", "namespace": "n", "extra": 1}]'],
    ['more tables than an import takes', JSON.stringify(Array.from({ length: 501 }, (_, index) => ({ name: `t${index}` })))],
    ['values nested without end', `{"tables": ${'['.repeat(100_000)}`],
    ['a member named __proto__', '[{"__proto__": {"name": "a"}, "format": "parquet"}]'],
    ['the same table twice', '[{"name": "a", "namespace": "n", "format": "parquet", "location": "file:///x"}, {"name": "a", "namespace": "n", "format": "parquet", "location": "file:///x"}]'],
    ['locations of other kinds', '[{"name": "a", "namespace": "n", "format": "parquet", "location": "http://x/y"}]'],
  ])('refuses %s with a catalogued code and stores nothing', async (_what, text) => {
    pages.set('/m.json', text);
    const { code } = await refusal(fetchFrom(`http://${base}/m.json`));
    expect(code).toMatch(/^datasource\./);
    expect(await count()).toBe(0);
  }); // prettier-ignore

  it('stops when the person is gone', async () => {
    let reached: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (reached = resolve));
    pages.set('/slow', () => reached());
    const gone = new AbortController();
    const running = scene.bench.imports.import(scene.team.author, 'lake', { manifest_url: `http://${base}/slow` }, gone.signal);
    await begun;
    gone.abort();
    expect((await refusal(running)).code).toBe('pipeline.execution.datasource_unreachable');
  }); // prettier-ignore
});

describe('looking at tables before they are registered', () => {
  const register = (gaveUp?: AbortSignal) =>
    scene.bench.tables.register(scene.team.author, 'lake', { namespace: 'n', name: 'a', format: 'parquet', location: `file://${root('a.parquet')}` }, gaveUp); // prettier-ignore

  it('ends with the person who asked, and stores nothing', async () => {
    expect((await refusal(register(AbortSignal.abort()))).code).toBe('pipeline.node.query_timeout');
    expect(await count()).toBe(0);
  });

  it('counts as a probe of theirs: engines take memory', async () => {
    const held = Promise.withResolvers<undefined>();
    const { userId } = scene.team.author;
    const two = [1, 2].map(() => scene.bench.datasources.slots.within(userId, () => held.promise));
    expect((await refusal(register())).code).toBe('rate_limit.exceeded');
    held.resolve(undefined);
    await Promise.all(two);
    expect((await register()).name).toBe('a');
  });
});

describe('a lake that an operator declares', () => {
  const file = () => join(scene.folder, 'datasources.yaml');
  const declare = async (lake: string): Promise<void> => {
    writeFileSync(file(), `datasources:\n  - {name: declared, display_name: D, dialect: LAKE, jdbc_url: "jdbc:duckdb:", credential: {kind: none}, properties: {dialect: {endpoint: "${base}"}}, ${lake}}`);
    await scene.bench.datasources.bootstrap.run(file(), {});
  }; // prettier-ignore
  const names = async () => (await scene.bench.repository.all(scene.db.database, 'declared')).map(({ name }) => name);

  it('comes with the tables of its list once: what authors make of them since is theirs', async () => {
    const list = `tables: [{namespace: shop, name: a, format: parquet, location: "file://${root('a.parquet')}"}, {namespace: shop, name: b, format: parquet, location: "file://${root('b.parquet')}"}]`;
    await declare(list);
    expect(await names()).toEqual(['a', 'b']);
    await scene.db.database.execute(`DELETE FROM lake_tables WHERE name = 'b'`);
    await declare(list);
    expect(await names()).toEqual(['a']);
    expect(await scene.bench.read('declared', 'SELECT a FROM shop.a')).toEqual([[1]]);
    // Nothing tells an emptied lake from one whose first boot ended before its tables were there.
    await scene.db.database.execute('DELETE FROM lake_tables');
    await declare(list);
    expect(await names()).toEqual(['a', 'b']);
  });

  it('comes with the wanted tables of a manifest', async () => {
    pages.set('/m.json', manifest('a', 'b'));
    await declare(`import_manifest: "http://${base}/m.json", namespace: own, only_tables: [b]`);
    expect(await names()).toEqual(['b']);
  });

  it('stops the boot when a table cannot be read or is not in the manifest, and takes the next boot to the end', async () => {
    pages.set('/m.json', manifest('a'));
    const list = `import_manifest: "http://${base}/m.json"`;
    await expect(declare(`${list}, only_tables: [a, other]`)).rejects.toThrow(/no table "other"/);
    pages.set('/m.json', manifest('a', 'missing'));
    await expect(declare(list)).rejects.toThrow(/missing/);
    expect(await names()).toEqual([]);
    pages.set('/m.json', manifest('a'));
    await declare(list);
    expect(await names()).toEqual(['a']);
  });
});
