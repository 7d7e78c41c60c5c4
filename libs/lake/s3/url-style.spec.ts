import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { EgressPolicy } from '#libs/egress';

import { lakeOptions } from '../options/lake-options.js';
import { S3Storage } from './s3-storage.js';

/* Where a bucket's name stands in an address: services that know one style only answer the other with another bucket. */

let server: Server;
let port: number;
let asked: string[];
let looked: string[];

beforeEach(async () => {
  [asked, looked] = [[], []];
  server = createServer(({ headers, url }, response) => {
    asked.push(`${headers.host} ${url}`);
    response.writeHead(200, { etag: '"e"', 'content-length': 0 }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Asks for an object; names mean `address`, and those of AWS are refused before anything is dialled. */
async function find(options: Record<string, string>): Promise<unknown> {
  const policy = new EgressPolicy({ deny: [], allow: [], refuseLoopback: false, services: [] }, (name) => {
    looked.push(name);
    const address = name.startsWith('bucket.s3.') ? '169.254.169.254' : '127.0.0.1';
    return Promise.resolve([{ address, family: 4 }]);
  });
  const login = { username: 'key', secret: 'secret' };
  const storage = new S3Storage(lakeOptions(new Map(Object.entries(options))), login, policy);
  return storage.find('bucket', 'a/b.parquet', AbortSignal.timeout(10_000)).catch((error: unknown) => error);
}

describe('the address of a bucket', () => {
  it('has the name in its path with an endpoint of its own, unless the option says otherwise', async () => {
    const endpoint = `lake.example:${port}`;
    await find({ endpoint });
    await find({ endpoint, url_style: 'path' });
    await find({ endpoint, url_style: 'vhost' });
    expect(asked).toEqual([
      `lake.example:${port} /bucket/a/b.parquet`,
      `lake.example:${port} /bucket/a/b.parquet`,
      `bucket.lake.example:${port} /a/b.parquet`,
    ]);
    expect(looked.at(-1)).toBe('bucket.lake.example');
  });

  it.each<Record<string, string>>([{}, { url_style: 'vhost' }])(
    'has the name before the host at AWS: %j',
    async (options) => {
      await find({ region: 'eu-central-1', ...options });
      expect(looked).toContain('bucket.s3.eu-central-1.amazonaws.com');
      expect(asked).toEqual([]);
    },
  );
});
