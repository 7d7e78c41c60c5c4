import { EgressPolicy } from '#libs/egress';

import { S3_LOGIN } from '../../../test/fixtures/s3-server.js';
import { lakeOptions } from '../options/lake-options.js';
import { Mirror } from './mirror.js';
import { MirroredCopies } from './mirrored-copies.js';
import { S3Storage } from './s3-storage.js';

/** A server process that copies objects and keeps them until it is ended: `endpoint folder key…`. Says where they are. */
const [endpoint = '', folder = '', ...keys] = process.argv.slice(2);
const { signal } = new AbortController();
const storage = new S3Storage(
  lakeOptions(new Map([['endpoint', endpoint], ['region', S3_LOGIN.region]])), // prettier-ignore
  { username: S3_LOGIN.key, secret: S3_LOGIN.secret },
  new EgressPolicy({ deny: [], allow: [], refuseLoopback: false, services: [] }),
);
const limits = { datasource: 'lake', maxFiles: 100, maxBytes: 1_000_000 };
const copies = new MirroredCopies(storage, new Mirror(folder, 1_000_000), limits);
const objects = await Promise.all(keys.map((key) => storage.find('bucket', key, signal)));
process.stdout.write('begins\n');
const { paths } = await copies.hold(
  'bucket',
  objects.flatMap((object) => object ?? []),
  signal,
);
process.stdout.write(`holds ${paths.join(' ')}\n`);
setInterval(() => undefined, 60_000);
