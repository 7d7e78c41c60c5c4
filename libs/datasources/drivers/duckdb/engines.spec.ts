import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { ConnectionSource } from '../../pool/connection-source.js';
import { stopsAtEveryMoment } from '../cancelling.fixture.js';
import { cellOf, NEVER } from '../driver.fixture.js';
import { DuckdbConnection } from './connection.js';
import { duckdbDriver } from './duckdb.driver.js';
import { DuckdbInstances } from './instances.js';
import { NativeCallGate } from './native-call-gate.js';

/** What a file or a host would need; memory has neither. */
const NO_CONTEXT = {
  checkAddress: () => Promise.reject(new TypeError('no host')),
  openableFile: () => Promise.reject(new TypeError('no file')),
};

describe('engines of DuckDB datasources', () => {
  const calls = new NativeCallGate(4);
  let folder: string;
  let instances: DuckdbInstances;
  let besideThreads: DuckdbInstances;

  const engines = (limits: { besideThreads?: boolean }): DuckdbInstances =>
    new DuckdbInstances({ memoryMb: 64, threads: 2, temporaryDirectory: join(folder, 'spill'), ...limits }, calls);

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'penstock-duckdb-'));
    instances = engines({});
    besideThreads = engines({ besideThreads: true });
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  const inMemory = (of: DuckdbInstances, gate = calls): ConnectionSource => {
    const read = duckdbDriver(of, gate).configure('jdbc:duckdb::memory:', new Map());
    if (!read.ok) throw new TypeError('the URL is one of those documented');
    const login = { username: null, secret: null, credentialKind: 'none', isReadonly: false } as const;
    return read.configured.source({ datasource: 'memory', ...login }, NO_CONTEXT);
  };

  it('a file has one engine in this process, whoever shares it, and it closes with the last', async () => {
    const file = join(folder, 'shared.duckdb');
    const first = await instances.share('one', file, false);
    const second = await instances.share('two', file, true);
    expect(second.instance).toBe(first.instance);
    first.release();
    first.release();
    const third = await instances.share('three', file, false);
    expect(third.instance).toBe(second.instance);
    second.release();
    third.release();
    const reader = await instances.share('four', file, true);
    await expect(instances.share('five', file, false)).rejects.toMatchObject({
      kind: 'connection',
      driverCode: 'OPEN_READ_ONLY',
    });
    const connection = new DuckdbConnection(await reader.instance.connect(), calls, () => reader.release());
    await expect(
      connection.execute({ sql: 'CREATE TABLE x (i INT)', values: [] }, { signal: NEVER }),
    ).rejects.toMatchObject({ name: 'DriverFailure' });
    await connection.close();
  });

  it('what threads of this process open too is opened by none of them to write: two engines would lose rows', async () => {
    const file = join(folder, 'threads.duckdb');
    (await instances.share('one', file, false)).release();
    const [one, other] = [besideThreads, engines({ besideThreads: true })];
    for (const place of [file, null]) {
      const refusal = {
        kind: 'connection',
        driverCode: 'THREADS_READ_ONLY',
        message: expect.stringContaining('inline'),
      };
      await expect(one.share('one', place, false)).rejects.toMatchObject(refusal);
    }
    const readers = [await one.share('one', file, false, 'read'), await other.share('one', file, true)];
    readers.forEach((reader) => reader.release());
  });

  it('a missing file and a foreign one are connection failures and are not kept', async () => {
    await expect(instances.share('gone', join(folder, 'gone.duckdb'), true)).rejects.toMatchObject({
      kind: 'connection',
    });
    await expect(instances.share('gone', '/etc/passwd', true)).rejects.toMatchObject({ kind: 'connection' });
  });

  it('a database in memory is one for all sessions of its pool, also when two are opened at once', async () => {
    const source = inMemory(instances);
    const [one, other] = await Promise.all([source.connect('write', NEVER), source.connect('write', NEVER)]);
    await one.execute({ sql: 'CREATE TABLE t AS SELECT 7 AS i', values: [] }, { signal: NEVER });
    await Promise.all([one.close(), other.close()]);
    const later = (await source.connect('read', NEVER)) as DuckdbConnection;
    expect(await cellOf(later, 'SELECT i FROM t')).toBe('7');
    await later.close();
    await source.close();
  });

  it('beside threads a database in memory is read and never written; a pool that opened none still closes', async () => {
    const source = inMemory(besideThreads);
    for (const _again of [1, 2])
      await expect(source.connect('write', NEVER)).rejects.toMatchObject({ driverCode: 'THREADS_READ_ONLY' });
    await source.close();
    const session = (await source.connect('read', NEVER)) as DuckdbConnection;
    expect(await cellOf(session, 'SELECT 1')).toBe('1');
    await session.close();
    await source.close();
  });

  it('a caller who gives up while the engine is busy waits no longer, and no connection stays behind', async () => {
    const one = new NativeCallGate(1);
    const waiting = inMemory(new DuckdbInstances({ memoryMb: 64, threads: 1, temporaryDirectory: folder }, one), one);
    let free!: () => void;
    const held = one.run(() => new Promise<void>((resolve) => (free = resolve)));
    const caller = new AbortController();
    const connecting = waiting.connect('read', caller.signal);
    caller.abort();
    await expect(connecting).rejects.toMatchObject({ kind: 'cancelled' });
    free();
    await held;
    await waiting.close();
  });

  describe('a session', () => {
    let source: ConnectionSource;
    beforeAll(() => {
      source = inMemory(instances);
    });
    afterAll(async () => await source.close());

    stopsAtEveryMoment(() => ({
      connect: (signal) => source.connect('read', signal),
      endless: 'SELECT count(*) FROM range(1000000000000) a, range(1000000000000) b',
      stream: 'SELECT range AS i FROM range(1000000000000)',
      works: () => Promise.resolve(calls.running > 0),
    }));
  });
});
