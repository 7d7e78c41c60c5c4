import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { loadConfiguration, newId } from '#libs/kernel';
import type { Database } from '#libs/persistence';
import { MemoryTransientStore } from '#libs/transient';
import { Idempotency } from './idempotency.js';

const ANN = newId();
const STARTED = Date.parse('2026-02-28T23:59:30.000Z');

let passed: number;
/** Executions that have a row, by their id; the value is whose they are. */
let rows: Map<string, string>;
let looks: number;
let store: MemoryTransientStore;
let idempotency: Idempotency;

beforeEach(() => {
  [passed, looks] = [0, 0];
  rows = new Map();
  store = new MemoryTransientStore({ maxBytes: 1 << 20, clock: { now: () => new Date(STARTED + passed) } });
  const database = {
    query: (_sql: string, [executionId, userId]: [string, string]) => {
      looks++;
      return Promise.resolve(rows.get(executionId) === userId ? [{}] : []);
    },
  };
  idempotency = new Idempotency(store, database as unknown as Database, loadConfiguration({}));
});

afterEach(async () => {
  jest.restoreAllMocks();
  await store.close();
});

/** Each look at the clock of the wait is so much later than the last. */
function waitsPassBy(milliseconds: number): void {
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => (now += milliseconds));
}
const claim = (executionId = newId(), hash = 'h', userId = ANN) => idempotency.claim(userId, 'key', hash, executionId);

describe('a key that is held by a request without a row', () => {
  it('waits five seconds for the row, then says that the other is at it and to come back in a second', async () => {
    await claim();
    waitsPassBy(1000);
    await expect(claim()).rejects.toMatchObject({
      code: 'idempotency.in_progress',
      status: 409,
      details: { retry_after_seconds: 1 },
    });
    // At 1000, 2000, … the fifth second is the last at which it looks.
    expect(looks).toBe(5);
  });

  it('is attached to as soon as the row is there, without a run of its own', async () => {
    const first = newId();
    await claim(first);
    const second = claim();
    rows.set(first, ANN);
    expect(await second).toEqual({ kind: 'attach', executionId: first });
  });

  it('is tried again when the other was refused and gave it back', async () => {
    const first = await claim();
    const second = claim();
    if (first.kind === 'own') await first.claim.release();
    expect(await second).toMatchObject({ kind: 'own' });
  });

  it('is taken over once its starter has been silent for a minute, and not a moment before', async () => {
    const dead = newId();
    await claim(dead);
    passed = 59_999;
    waitsPassBy(5000);
    await expect(claim()).rejects.toMatchObject({ code: 'idempotency.in_progress' });
    passed = 60_000;
    const heir = await claim();
    expect(heir).toMatchObject({ kind: 'own' });
    // The dead one, should it wake up, may not start any more; the heir may.
    expect(await store.markStarted({ userId: ANN, key: 'key' }, dead)).toBe(false);
    expect(heir.kind === 'own' && (await heir.claim.confirm())).toBe(true);
  });

  it('is taken over by one of many: the others wait for that one', async () => {
    await claim();
    passed = 60_000;
    waitsPassBy(1000);
    const heirs = await Promise.allSettled(Array.from({ length: 5 }, () => claim()));
    const won = heirs.filter(({ status }) => status === 'fulfilled');
    expect(won).toMatchObject([{ value: { kind: 'own' } }]);
    for (const heir of heirs)
      if (heir.status === 'rejected') expect(heir.reason).toMatchObject({ code: 'idempotency.in_progress' });
  });

  it('is not taken over when the row is there, however old: it is attached to', async () => {
    const first = newId();
    await claim(first);
    rows.set(first, ANN);
    passed = 3_600_000;
    expect(await claim()).toEqual({ kind: 'attach', executionId: first });
  });
});

describe('a key', () => {
  it('of another request is refused at once, without waiting', async () => {
    await claim(newId(), 'one request');
    await expect(claim(newId(), 'another')).rejects.toMatchObject({
      code: 'idempotency.key_reused_for_different_request',
      status: 409,
    });
    expect(looks).toBe(0);
  });

  it('belongs to a person: the same key of another is free', async () => {
    await claim();
    expect(await claim(newId(), 'another', newId())).toMatchObject({ kind: 'own' });
  });
});
