import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import type { DriverFailure } from '#libs/datasources';
import { EgressPolicy } from '#libs/egress';

import { S3_LOGIN, S3Server } from '../../../test/fixtures/s3-server.js';
import { lakeOptions } from '../options/lake-options.js';
import { S3Storage } from './s3-storage.js';

/* An endpoint is named by whoever registers the lake, so every request to it stands under the policy (04 §12). */

const HERE = '127.0.0.1';
const METADATA = '169.254.169.254';

let s3: S3Server;
beforeEach(async () => {
  s3 = await S3Server.start();
  s3.objects.set('bucket/a.parquet', Buffer.from('rows'));
});
afterEach(() => s3.stop());

/** A storage at a name that means one address after the other; the last one for good. */
function storageAt(endpoint: string, addresses: string[]): S3Storage {
  const policy = new EgressPolicy({ deny: [], allow: [], refuseLoopback: false, services: [] }, async () => {
    const address = (addresses.length > 1 ? addresses.shift() : addresses[0]) as string;
    return [{ address, family: address.includes(':') ? 6 : 4 }];
  });
  const options = lakeOptions(new Map([['endpoint', endpoint], ['region', S3_LOGIN.region]])); // prettier-ignore
  return new S3Storage(options, { username: S3_LOGIN.key, secret: S3_LOGIN.secret }, policy);
}
const portOf = (endpoint: string) => endpoint.split(':')[1];
const find = (storage: S3Storage) =>
  storage.find('bucket', 'a.parquet', AbortSignal.timeout(10_000)).then(
    (found) => found?.bytes,
    (error: DriverFailure) => error.driverCode,
  );

describe('an S3 endpoint', () => {
  it('is reached by its name while the name means what may be dialled', async () => {
    expect(await find(storageAt(`lake.example:${portOf(s3.endpoint)}`, [HERE]))).toBe(4);
    expect(s3.requests).toEqual(['HEAD /bucket/a.parquet']);
  });

  it('is asked for the bucket in the path or in the name of the host, as the lake says', async () => {
    const endpoint = `lake.example:${portOf(s3.endpoint)}`;
    const [path, vhost] = ['/bucket/a.parquet on lake.example', '/a.parquet on bucket.lake.example'];
    for (const [style, request] of [[undefined, path], ['path', path], ['vhost', vhost]] as const) {
      const names = new Set<string>();
      const policy = new EgressPolicy({ deny: [], allow: [], refuseLoopback: false, services: [] }, async (name) => {
        names.add(name);
        return [{ address: HERE, family: 4 }];
      });
      const options = lakeOptions(new Map<string, string>([['endpoint', endpoint], ...(style ? [['url_style', style] as const] : [])]));
      const storage = new S3Storage(options, { username: S3_LOGIN.key, secret: S3_LOGIN.secret }, policy);
      await find(storage);
      expect([style, `${s3.requests.at(-1)?.replace('HEAD ', '')} on ${[...names].at(-1)}`]).toEqual([style, request]);
    }
  }); // prettier-ignore

  it('is not asked once its name means something else, at the check and at the dial', async () => {
    for (const addresses of [[METADATA], [HERE, METADATA], [HERE, '::ffff:169.254.169.254'], ['fe80::1']]) {
      const storage = storageAt(`lake.example:${portOf(s3.endpoint)}`, [...addresses]);
      expect([addresses, await find(storage)]).toEqual([addresses, 'HOST_FORBIDDEN']);
    }
    expect(s3.requests).toEqual([]);
  });

  it('is judged anew for every request, open connections or not', async () => {
    const addresses = [HERE];
    const storage = storageAt(`lake.example:${portOf(s3.endpoint)}`, addresses);
    expect(await find(storage)).toBe(4);
    addresses[0] = METADATA;
    expect(await find(storage)).toBe('HOST_FORBIDDEN');
    expect(s3.requests).toHaveLength(1);
  });

  it('sends nobody elsewhere: a redirect is an answer like another', async () => {
    const redirecting: Server = createServer((_request, response) => {
      response.writeHead(307, { location: `http://${s3.endpoint}/bucket/a.parquet` }).end();
    });
    await new Promise<void>((resolve) => redirecting.listen(0, HERE, resolve));
    const { port } = redirecting.address() as AddressInfo;
    expect(await find(storageAt(`${HERE}:${port}`, [HERE]))).not.toBe(4);
    expect(s3.requests).toEqual([]);
    redirecting.closeAllConnections();
    await new Promise((resolve) => redirecting.close(resolve));
  });
});
