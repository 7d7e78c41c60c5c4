import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { EgressPolicy } from '#libs/egress';

import { startChild, type TypeScriptChild } from '../../../test/fixtures/child.js';
import { eventually } from '../../../test/fixtures/eventually.js';
import { S3_LOGIN, S3Server } from '../../../test/fixtures/s3-server.js';
import { lakeOptions } from '../options/lake-options.js';
import { Mirror } from './mirror.js';
import { MirroredCopies } from './mirrored-copies.js';
import { S3Storage } from './s3-storage.js';

const { signal } = new AbortController();

describe('copies of several processes in one folder', () => {
  let s3: S3Server;
  let folder: string;
  let children: TypeScriptChild[];

  beforeEach(async () => {
    s3 = await S3Server.start();
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'penstock-mirrors-')));
    children = [];
    for (const key of ['a', 'b']) s3.objects.set(`bucket/${key}`, Buffer.from(`all of ${key} `.repeat(1000)));
  });
  afterEach(async () => {
    for (const child of children) await kill(child);
    await s3.stop();
    rmSync(folder, { recursive: true });
  });

  const child = (...keys: string[]): TypeScriptChild => {
    const started = startChild('libs/lake/s3/mirror-child.fixture.ts', [s3.endpoint, folder, ...keys]);
    children.push(started);
    return started;
  };
  const kill = async ({ process, finished }: TypeScriptChild): Promise<void> => {
    process.kill('SIGKILL');
    await finished;
  };
  const held = async (of: TypeScriptChild): Promise<string[]> => {
    await of.says('holds ');
    return (/^holds (.*)$/m.exec(of.stdout())?.[1] ?? '').split(' ');
  };
  const here = (maxBytes = 1_000_000) => {
    const options = lakeOptions(new Map([['endpoint', s3.endpoint], ['region', S3_LOGIN.region]])); // prettier-ignore
    const rules = { deny: [], allow: [], refuseLoopback: false, services: [] };
    const storage = new S3Storage(options, { username: S3_LOGIN.key, secret: S3_LOGIN.secret }, new EgressPolicy(rules));
    const copies = new MirroredCopies(storage, new Mirror(folder, maxBytes), { datasource: 'lake', maxFiles: 9, maxBytes });
    return async (...keys: string[]) => {
      const objects = await Promise.all(keys.map((key) => storage.find('bucket', key, signal)));
      return await copies.hold('bucket', objects.flatMap((object) => object ?? []), signal);
    };
  }; // prettier-ignore
  const parts = (): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.part-')); // prettier-ignore
  const gets = (key: string): number => s3.requests.filter((line) => line === `GET /bucket/${key}`).length;

  it('of which one was killed while it downloaded: the next takes its folder, its whole copies and nothing of the half one', async () => {
    s3.stall = 1;
    const first = child('a');
    await eventually('half of the object is there', () => parts().length === 1);
    await kill(first);
    const [half = ''] = parts();
    // Somebody looks for it under the name of the object: it is not there.
    const { paths } = await here()('a', 'b');
    expect(paths.map((path) => readFileSync(path, 'utf8'))).toEqual(['all of a '.repeat(1000), 'all of b '.repeat(1000)]);
    expect(paths.some((path) => path.includes('.process-'))).toBe(false);
    expect([gets('a'), gets('b'), parts()]).toEqual([2, 1, [half]]);
    expect(readFileSync(join(folder, half), 'utf8').length).toBeLessThan(9000);
  }, 20_000); // prettier-ignore

  it('are removed when they were left half long ago, and whole ones of a process that is gone are not fetched again', async () => {
    s3.stall = 1;
    const first = child('a');
    await eventually('half of the object is there', () => parts().length === 1);
    await kill(first);
    const second = child('b');
    const [kept = ''] = await held(second);
    await kill(second);
    const long = new Date(Date.now() - 2 * 3_600_000);
    for (const name of parts()) utimesSync(join(folder, name), long, long);
    const { paths } = await here()('b');
    expect([paths, gets('b'), parts()]).toEqual([[kept], 1, []]);
  }, 20_000);

  it('that run at the same time are each its own: the limit of one never removes what another reads', async () => {
    const [one, other] = [child('a', 'b'), child('a', 'b')];
    const [ofOne, ofOther] = await Promise.all([held(one), held(other)]);
    expect(new Set([...ofOne, ...ofOther]).size).toBe(4);
    // A third with room for one object only.
    const third = here(9500);
    const { release } = await third('a');
    release();
    await third('b');
    for (const path of [...ofOne, ...ofOther]) expect([path, existsSync(path)]).toEqual([path, true]);
    expect([...ofOne, ...ofOther].map((path) => readFileSync(path, 'utf8').slice(0, 8))).toEqual(['all of a', 'all of b', 'all of a', 'all of b']);
    expect(gets('a')).toBe(3);
  }, 20_000); // prettier-ignore
});
