import { describe, expect, it } from '@jest/globals';
import { sentinelAddress } from './redis-address.js';

describe('an address of Sentinels', () => {
  it('names them, the Redis they know, and what it asks for', () => {
    expect(
      sentinelAddress(
        'rediss-sentinel://app:p%40ss:1@a.example.com,[fd00::7]:7000/3?sentinel-password=s%26s#the%20one',
      ),
    ).toEqual({
      sentinels: [
        { host: 'a.example.com', port: 26_379 },
        { host: 'fd00::7', port: 7000 },
      ],
      master: 'the one',
      database: 3,
      tls: true,
      username: 'app',
      password: 'p@ss:1',
      sentinelPassword: 's&s',
    });
    expect(sentinelAddress('redis-sentinel://only-a-password@a#m')).toMatchObject({
      username: undefined,
      password: 'only-a-password',
      tls: false,
      database: 0,
    });
  });

  it.each([
    'redis-sentinel://a,b',
    'redis-sentinel://a,b#',
    'redis-sentinel://a,,b#m',
    'redis-sentinel://a:70000#m',
    'redis-sentinel://a/x#m',
    'redis-sentinel://a?password=p#m',
    'redis-sentinel://:100%@a#m',
    'redis-sentinel://#m',
    'redis://a#m',
  ])('refuses %s', (text) => {
    expect(sentinelAddress(text)).toBeUndefined();
  });
});
