import { choice, integer, list, numberedSecrets, optionalText, secret, text } from '../definition.js';
import { base64Bytes, POSTGRES_URL, REDIS_URL } from '../forms.js';

export const databaseKeys = {
  'datapipelines.metadata-db.url': secret({
    form: POSTGRES_URL,
    about: 'PostgreSQL 16 or newer that holds everything. Without it the server starts its own (embedded mode).',
    aliases: { env: ['DATABASE_URL', 'SPRING_DATASOURCE_URL'] },
  }),
  'datapipelines.metadata-db.username': optionalText({
    about: 'User of the metadata database, when the URL names none.',
    aliases: { env: ['SPRING_DATASOURCE_USERNAME'] },
  }),
  'datapipelines.metadata-db.password': secret({
    about: 'Password of the metadata database, when the URL holds none.',
    aliases: { env: ['SPRING_DATASOURCE_PASSWORD'] },
  }),
  'datapipelines.metadata-db.pool-max': integer({
    default: 10,
    min: 1,
    max: 500,
    about: 'Connections to the metadata database for requests; two more carry heartbeats and final writes.',
  }),
  'datapipelines.embedded.directory': text({
    default: '.penstock',
    about: 'Embedded mode: folder of the database and the secrets the server makes, from the working directory.',
  }),
};

export const redisKeys = {
  'datapipelines.redis.url': secret({
    form: REDIS_URL,
    about:
      'Redis 7 or newer with `maxmemory-policy noeviction`: results, live events, limits. Behind Sentinels: `redis-sentinel://:password@host1,host2/0#master`.',
    aliases: { env: ['REDIS_URL'] },
  }),
  'datapipelines.redis.host': optionalText({ about: 'Host of Redis, instead of the URL.' }),
  'datapipelines.redis.port': integer({
    default: 6379,
    min: 1,
    max: 65535,
    about: 'Port of Redis, when the host is given.',
  }),
  'datapipelines.redis.password': secret({ about: 'Password of Redis, when the URL holds none.' }),
  'datapipelines.transient.memory.max-bytes': integer({
    default: 268_435_456,
    min: 1_048_576,
    max: 68_719_476_736,
    about: 'Embedded mode, where no Redis is used: bytes the in-process store may hold before it refuses writes.',
  }),
};

export const secretKeys = {
  'datapipelines.jwt.secret': secret({
    form: base64Bytes({ atLeast: 32 }),
    about: 'Signs sessions. Make one with `openssl rand -base64 32`.',
  }),
  'datapipelines.jwt.previous-secrets': list({
    form: base64Bytes({ atLeast: 32 }),
    secret: true,
    about: 'Former signing secrets that are still accepted, for a change without signing everybody out.',
  }),
  'datapipelines.db.key-provider': choice(['env'], {
    default: 'env',
    about: 'Where the keys that seal datasource credentials come from.',
  }),
  'datapipelines.db.encryption-key': secret({
    form: base64Bytes({ exactly: 32 }),
    about: 'Seals datasource credentials; version 1 of the key. Make one with `openssl rand -base64 32` and keep it.',
    aliases: { env: ['DATAPIPELINES_MASTER_KEY'] },
  }),
  'datapipelines.db.encryption-keys': numberedSecrets({
    min: 2,
    max: 255,
    form: base64Bytes({ exactly: 32 }),
    about: 'Later versions of that key, for rotation: what is saved next is sealed with the current one.',
  }),
  'datapipelines.db.encryption-key-current': integer({
    default: {
      says: 'the highest version given',
      from: (facts) => {
        const versions = facts.value('datapipelines.db.encryption-keys');
        return versions instanceof Map ? Math.max(1, ...(versions as Map<number, string>).keys()) : 1;
      },
    },
    min: 1,
    max: 255,
    about: 'Version of the key that seals what is saved from now on.',
  }),
};
