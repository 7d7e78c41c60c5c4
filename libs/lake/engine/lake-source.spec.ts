import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import type { DuckdbConnection, NativeCalls } from '#libs/datasources';

import { TableProblem } from '../tables/table-scan.js';
import { LakeSource } from './lake-source.js';

const { signal } = new AbortController();
const HOUR_MS = 3_600_000;

describe('the engine of a lake in one process', () => {
  let folder: string;
  let built: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'penstock-source-'));
    built = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const source = (validUntil?: () => number) =>
    new LakeSource(
      {
        refreshMs: HOUR_MS,
        parts: () =>
          Promise.resolve({
            calls: { run: (work: () => Promise<unknown>) => work() } as unknown as NativeCalls,
            storage: 'of a test',
            resolverFor: () => {
              built += 1;
              const resolver = { resolve: () => Promise.reject(new TableProblem('no tables')) };
              return Promise.resolve({ resolver, validUntil: validUntil?.() });
            },
            tableMs: 30_000,
            memoryMb: 64,
            threads: 1,
            spillFolder: folder,
            attachments: [],
          }),
        object: () => Promise.reject(new TypeError('not asked for')),
        listRoots: () => Promise.resolve(),
      },
      { tables: () => Promise.resolve([]), record: () => Promise.resolve() },
    );
  const use = async (from: LakeSource): Promise<void> => {
    const connection = await from.connect('read', signal);
    await connection.close();
  };

  it('is made once for everybody who comes, and goes with its folder when the source is closed', async () => {
    const one = source();
    await Promise.all([use(one), use(one), use(one)]);
    await use(one);
    expect([built, readdirSync(folder).length]).toEqual([1, 1]);
    await one.close();
    await expect(one.connect('read', signal)).rejects.toMatchObject({ kind: 'connection' });
  });

  it('stays shut and locked behind the gate of statements too: nothing opens it, whoever could run something else', async () => {
    const one = source();
    const connection = (await one.connect('read', signal)) as DuckdbConnection;
    const run = (sql: string) => connection.call((native) => native.run(sql), signal);
    for (const sql of ['SET enable_external_access = true', `SET allowed_directories = ['/etc/']`, `SET GLOBAL threads = 8`, 'SET lock_configuration = false'])
      expect([sql, await run(sql).then(() => 'done', () => 'refused')]).toEqual([sql, 'refused']);
    await expect(run(`ATTACH '${join(folder, 'x.duckdb')}' AS x`)).rejects.toThrow();
    await connection.close();
    await one.close();
  }); // prettier-ignore

  it('is replaced before the next query when what it enters its storage with is about to end', async () => {
    const soon = source(() => Date.now() + 30_000);
    await use(soon);
    await use(soon);
    expect(built).toBe(2);
    await soon.close();
    built = 0;
    const later = source(() => Date.now() + HOUR_MS);
    await use(later);
    await use(later);
    expect(built).toBe(1);
    await later.close();
  });
});
