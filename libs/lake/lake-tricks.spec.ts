import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, it } from '@jest/globals';

import { DriverFailure } from '#libs/datasources';

import { DISGUISES, HARMFUL_READS, WRITING_TRICKS } from '../../test/fixtures/probe-tricks.js';
import { LakeConnection } from './engine/lake-connection.js';
import { lakeScene } from './lake.fixture.js';

const scene = lakeScene();
const root = (...parts: string[]): string => join(scene.folder, 'roots', ...parts);
const NEVER = new AbortController().signal;

beforeEach(async () => {
  await scene.make(`COPY (SELECT i AS id, i * 100 AS total FROM range(1, 61) t(i)) TO '${root('orders.parquet')}'`);
  await scene.registered('lake');
  await scene.bench.tables.register(scene.team.author, 'lake', {
    ...{ namespace: 'sales', name: 'orders', format: 'parquet' },
    location: `file://${root('*.parquet')}`,
  });
});

/** Everything a statement could have changed: files of the lake and beside the process, rows, tables, settings. */
async function state(): Promise<unknown> {
  return {
    files: readdirSync(root()).map((file) => [
      file,
      createHash('sha256')
        .update(readFileSync(root(file)))
        .digest('hex'),
    ]),
    beside: ['stolen', 'stolen.csv', 'stolen.db'].filter((name) => existsSync(name)),
    rows: await scene.bench.read('lake', 'SELECT count(*), sum(id)::VARCHAR FROM orders'),
    relations: await scene.bench.read(
      'lake',
      `SELECT string_agg(table_schema || '.' || table_name, ',' ORDER BY ALL) FROM information_schema.tables`,
    ),
    settings: await scene.bench.read(
      'lake',
      `SELECT name, value FROM duckdb_settings() WHERE name IN ('threads', 'enable_external_access', 'lock_configuration')`,
    ),
  };
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => 'it ran',
    (failure: unknown) => failure,
  );
}

/** A session as a query has it, without the look at the kind of a statement that comes before one. */
async function beneath(sql: string): Promise<unknown> {
  const record = await scene.bench.service.find(scene.team.viewer, 'lake');
  const { source } = await scene.bench.datasources.sources.sourceOf(record);
  const session = await source.connect('read', NEVER);
  if (!(session instanceof LakeConnection)) throw new TypeError('a lake gives sessions of a lake');
  try {
    return await failureOf(session.call((native) => native.run(sql), NEVER));
  } finally {
    await session.close();
    await source.close();
  }
}

/* The second gate: the words of a probe are not looked at here. */
describe('a lake that is asked to write', () => {
  it.each(Object.entries(DISGUISES))('refuses it, and everything stays as it is: %s', async (_how, disguised) => {
    const before = await state();
    const taken: unknown[] = [];
    for (const sql of WRITING_TRICKS.LAKE.map(disguised)) {
      const failure = await failureOf(scene.bench.read('lake', sql));
      // A function that is no query's is told by its name; these are to fall to the engine.
      if (!(failure instanceof DriverFailure) || failure.reason === 'engine_function') taken.push([sql, failure]);
      expect([sql, await state()]).toEqual([sql, before]);
    }
    expect(taken).toEqual([]);
  });

  it('refuses reads that would harm, by the name of their function', async () => {
    for (const sql of HARMFUL_READS.LAKE ?? [])
      expect(await failureOf(scene.bench.read('lake', sql))).toMatchObject({ reason: 'engine_function' });
  });

  it.each([
    ['its kind', 'not_select', /^(DROP|CREATE|ALTER|ATTACH|SET|PRAGMA|INSTALL|LOAD|CHECKPOINT|USE|CALL|VACUUM)\b/],
    ['the second one behind it', 'multiple_statements', /^(SELECT 1|COMMIT);/],
    ['the walls around the files', 'Permission', /^(COPY|EXPORT)\b/],
  ])('says what stood against a statement: %s', async (_what, reason, like) => {
    const tricks = WRITING_TRICKS.LAKE.filter((sql) => like.test(sql));
    expect(tricks.length).toBeGreaterThan(1);
    for (const sql of tricks) {
      const failure = await failureOf(scene.bench.read('lake', sql));
      const { reason: said, driverCode } = failure as DriverFailure;
      expect([sql, said ?? driverCode]).toEqual([sql, reason]);
    }
  });

  it('is locked beneath that too: no look at the kind of a statement, and still nothing changes', async () => {
    const before = await state();
    for (const sql of [
      `COPY orders TO 'stolen.csv'`,
      `EXPORT DATABASE 'stolen'`,
      `ATTACH 'stolen.db' AS x`,
      'SET threads = 2',
      'PRAGMA threads = 2',
      'INSTALL httpfs',
      'LOAD httpfs',
      'INSERT INTO orders (id) VALUES (99)',
      'DELETE FROM orders',
      'UPDATE orders SET id = id + 1000',
      'TRUNCATE TABLE orders',
    ]) {
      expect([sql, await beneath(sql)]).toEqual([sql, expect.any(DriverFailure)]);
      expect([sql, await state()]).toEqual([sql, before]);
    }
  });
});
