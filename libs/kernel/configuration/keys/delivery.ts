import { integer } from '../definition.js';

export const resultKeys = {
  'datapipelines.result.ttl-default-seconds': integer({
    default: 300,
    min: 1,
    max: 604_800,
    about: 'Seconds a result is kept when the caller asks for nothing else.',
  }),
  'datapipelines.result.ttl-min-seconds': integer({
    default: 60,
    min: 1,
    max: 604_800,
    about: 'Fewest seconds a caller can ask for.',
  }),
  'datapipelines.result.ttl-max-seconds': integer({
    default: 3600,
    min: 1,
    max: 604_800,
    about: 'Most seconds a caller can ask for.',
  }),
  'datapipelines.result.max-size-bytes': integer({
    default: 104_857_600,
    min: 1024,
    max: 107_374_182_400,
    about: 'Largest result in bytes of row JSON; a larger one fails its execution.',
  }),
  'datapipelines.result.page-size-rows': integer({
    default: 1000,
    min: 1,
    max: 1_000_000,
    about: 'Rows of a result page when the request names none.',
  }),
  'datapipelines.result.page-max-rows': integer({
    default: 100_000,
    min: 1,
    max: 1_000_000,
    about: 'Most rows of a result page.',
  }),
};

export const streamKeys = {
  'datapipelines.sse.heartbeat-interval-seconds': integer({
    default: 15,
    min: 1,
    max: 300,
    about: 'Seconds of silence after which a stream sends a sign of life and its rights are judged again.',
  }),
  'datapipelines.sse.disconnect-grace-seconds': integer({
    default: 30,
    min: 0,
    max: 3600,
    about: 'Seconds an attached execution survives its last watcher.',
  }),
  'datapipelines.sse.max-streams-per-user': integer({
    default: 50,
    min: 1,
    max: 10_000,
    about: 'Streams a person may have open, over all instances.',
  }),
  'datapipelines.sse.max-buffer-bytes': integer({
    default: 1_048_576,
    min: 16_384,
    max: 67_108_864,
    about: 'Unsent bytes after which a stream that is not read is closed.',
  }),
};

export const limitKeys = {
  'datapipelines.rate-limit.requests-per-second': integer({
    default: 100,
    min: 1,
    max: 1_000_000,
    about: 'Requests a second of one person, keys included.',
  }),
  'datapipelines.rate-limit.requests-per-minute': integer({
    default: 1000,
    min: 1,
    max: 60_000_000,
    about: 'Requests a minute of one person, keys included.',
  }),
  'datapipelines.rate-limit.unauthenticated-per-minute': integer({
    default: 300,
    min: 1,
    max: 60_000_000,
    about: 'Requests a minute from one address without a valid credential.',
  }),
  'datapipelines.idempotency.ttl-seconds': integer({
    default: 86_400,
    min: 60,
    max: 2_592_000,
    about: 'Seconds an idempotency key is remembered.',
  }),
};

export const endpointKeys = {
  'datapipelines.endpoints.timeout-default-seconds': integer({
    default: 30,
    min: 1,
    max: 3600,
    about: 'Seconds an endpoint waits for its run when it names none; then it answers 202.',
  }),
  'datapipelines.endpoints.timeout-min-seconds': integer({
    default: 1,
    min: 1,
    max: 3600,
    about: 'Fewest seconds an endpoint may be given.',
  }),
  'datapipelines.endpoints.timeout-max-seconds': integer({
    default: 300,
    min: 1,
    max: 3600,
    about: 'Most seconds an endpoint may be given.',
  }),
};
