import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { EgressPolicy } from '#libs/egress';

import { lakeOptions } from '../options/lake-options.js';
import { S3Storage } from './s3-storage.js';

const NAMES = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_CREDENTIAL_EXPIRATION'] as const;

describe('the AWS identity of this machine', () => {
  const before = new Map(NAMES.map((name) => [name, process.env[name]]));
  beforeEach(() => {
    process.env['AWS_ACCESS_KEY_ID'] = 'AKIAMACHINE';
    process.env['AWS_SECRET_ACCESS_KEY'] = 'of-the-machine';
    process.env['AWS_SESSION_TOKEN'] = 'for-a-while';
    process.env['AWS_CREDENTIAL_EXPIRATION'] = '2090-01-01T00:00:00Z';
  });
  afterEach(() => {
    for (const [name, value] of before)
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
  });
  const identity = (section: Record<string, string>, login: [string | null, string | null] = [null, null]) =>
    new S3Storage(
      lakeOptions(new Map(Object.entries(section))),
      { username: login[0], secret: login[1] },
      new EgressPolicy({ deny: [], allow: [], refuseLoopback: false, services: [] }),
    ).machineIdentity();

  it('is found as every AWS client finds it, with its end', async () => {
    expect(await identity({ region: 'eu-1' })).toEqual({
      accessKeyId: 'AKIAMACHINE',
      secretAccessKey: 'of-the-machine',
      sessionToken: 'for-a-while',
      validUntil: Date.UTC(2090, 0, 1),
    });
  });

  it('goes nowhere but to AWS, and only where the datasource says nothing of its own', async () => {
    expect(await identity({ endpoint: 'minio:9000' })).toBeUndefined();
    expect(await identity({ unsigned: 'true' })).toBeUndefined();
    expect(await identity({}, ['key', 'secret'])).toBeUndefined();
  });
});
