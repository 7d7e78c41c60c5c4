import { describe, expect, it } from '@jest/globals';

import { admittedAddress } from './manifest-address.js';

describe('where a manifest may lie', () => {
  it.each([
    's3.amazonaws.com',
    's3.eu-west-1.amazonaws.com',
    's3-eu-west-1.amazonaws.com',
    'my.bucket-1.s3.amazonaws.com',
    'bucket.s3.us-gov-east-1.amazonaws.com',
    'bucket.s3.dualstack.ap-southeast-2.amazonaws.com',
    'bucket.s3-fips.dualstack.us-east-1.amazonaws.com',
    'bucket.s3.cn-north-1.amazonaws.com.cn',
    'BUCKET.S3.EU-WEST-1.AMAZONAWS.COM',
  ])('without an endpoint is S3 of AWS by any of its names: %s', (host) => {
    const url = admittedAddress(`https://${host}/pub/m.json?versionId=7`, undefined);
    expect(url).toBeInstanceOf(URL);
    expect(String(url)).toBe(`https://${host.toLowerCase()}/pub/m.json?versionId=7`);
  });

  it.each([
    'amazonaws.com',
    'bucket.amazonaws.com',
    'es3.amazonaws.com',
    'bucket.s3x.amazonaws.com',
    'bucket.s3.evil.amazonaws.com',
    's3-1234567890.us-east-1.elb.amazonaws.com',
    's3.eu-west-1.compute.amazonaws.com',
    's3.1234567890.amazonaws.com',
    's3.amazonaws.com.evil.org',
    's3.amazonaws.com.evil.cn',
    's3.amazonaws.community',
    's3.amazonaws.com.',
    's3-amazonaws.com',
    's3.amazonaws.com%2eevil.org',
    's3.amazonаws.com',
    '.s3.amazonaws.com',
    '-.s3.amazonaws.com',
    's3.amazonaws.com:8443',
  ])('and no host that only looks like it: %s', (host) => {
    expect(['host', 'url']).toContain(admittedAddress(`https://${host}/m.json`, undefined));
  });

  it.each([
    ['http://s3.amazonaws.com/m.json', 'scheme'],
    ['s3.amazonaws.com/m.json', 'url'],
    ['https://key:secret@s3.amazonaws.com/m.json', 'url'],
    ['https://evil.org/s3.amazonaws.com', 'host'],
    ['https://evil.org\\@s3.amazonaws.com/m', 'host'],
    ['https://evil.org#s3.amazonaws.com', 'host'],
  ])('nor an address that another reader would take for one: %s', (address, reason) => {
    expect(admittedAddress(address, undefined)).toBe(reason);
  });

  it('with an endpoint is that host and port alone, whatever else is of AWS', () => {
    const endpoint = { host: 'Minio.internal', port: 9000 };
    expect(String(admittedAddress('http://minio.internal:9000/b/m.json', endpoint))).toBe('http://minio.internal:9000/b/m.json'); // prettier-ignore
    expect(admittedAddress('https://minio.internal:9000/b/m.json', endpoint)).toBeInstanceOf(URL);
    expect(admittedAddress('http://minio.internal/b/m.json', endpoint)).toBe('endpoint');
    expect(admittedAddress('https://s3.amazonaws.com/m.json', endpoint)).toBe('endpoint');
    expect(admittedAddress('ftp://minio.internal:9000/m.json', endpoint)).toBe('scheme');
    expect(admittedAddress('http://minio.internal/m', { host: 'minio.internal', port: 80 })).toBeInstanceOf(URL);
  });
});
