import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { StagingHealth } from '#libs/executions';
import type { TransientStore } from '#libs/transient';
import type { MetadataHealth } from './metadata-health.js';
import { Readiness } from './readiness.js';

const UP = { database: 'UP', redis: 'UP', staging: 'UP', h2_factory: 'UP' };
const answers = () => Promise.resolve();
const never = () => new Promise<void>(() => undefined);

type Check = () => Promise<unknown>;
const readiness = ({ database = answers, redis = answers, staging = answers }: Record<string, Check> = {}) =>
  new Readiness(
    { check: database } as unknown as MetadataHealth,
    { health: redis } as unknown as TransientStore,
    { check: staging } as unknown as StagingHealth,
  );

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('the readiness of a server', () => {
  it('begins when it serves, and ends with its drain', async () => {
    const server = readiness();
    expect(await server.judge()).toEqual({ ready: false, detail: { phase: 'starting', components: UP } });
    server.serve();
    expect(await server.judge()).toEqual({ ready: true, detail: { phase: 'serving', components: UP } });
    server.drain();
    expect(await server.judge()).toEqual({ ready: false, detail: { phase: 'draining', components: UP } });
  });

  it.each([
    ['database', { database: 'DOWN' }],
    ['redis', { redis: 'DOWN' }],
    ['staging', { staging: 'DOWN', h2_factory: 'DOWN' }],
  ])('is not there while its %s fails, and says which part it is', async (part, down) => {
    const server = readiness({ [part]: () => Promise.reject(new Error('refused')) });
    server.serve();
    expect(await server.judge()).toEqual({
      ready: false,
      detail: { phase: 'serving', components: { ...UP, ...down } },
    });
  });

  it('is judged within two seconds, though a store never answers: whoever asks has a clock of its own', async () => {
    const server = readiness({ database: never });
    server.serve();
    let judged: boolean | undefined;
    const judging = server.judge().then(({ ready }) => (judged = ready));
    await jest.advanceTimersByTimeAsync(1999);
    expect(judged).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    expect(await judging).toBe(false);
  });

  it('is looked at once for all who ask within a second', async () => {
    let looks = 0;
    const server = readiness({ database: () => Promise.resolve(looks++) });
    await Promise.all([server.judge(), server.judge(), server.components()]);
    expect(looks).toBe(1);
    await jest.advanceTimersByTimeAsync(1000);
    await server.judge();
    expect(looks).toBe(2);
  });
});
