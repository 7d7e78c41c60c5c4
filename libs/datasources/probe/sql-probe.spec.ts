import { afterEach, describe, expect, it, jest } from '@jest/globals';

import { readJson, type JsonObject } from '#libs/kernel';

import { refusal } from '../datasource-scene.fixture.js';
import { ENGINES, engineScene } from '../engines.fixture.js';
import { sqlFacts } from './author-act.js';

const parameters = (json: string): JsonObject => readJson(json) as JsonObject;
const texts = (rows: readonly { text: string }[]): string[] => rows.map(({ text }) => text);

describe('a probe', () => {
  const scene = engineScene();
  const probe = (name: string, sql: string, more = {}) =>
    scene.bench.probe.run(scene.team.author, name, { sql, ...more });

  describe.each(ENGINES)('on %s', (name) => {
    it('reads with bound values, says what there was more of, and how the engine would go about it', async () => {
      const sql = 'SELECT id, total_cents FROM orders WHERE customer_id = :who ORDER BY id';
      const read = await probe(name, sql, { limit: 2, parameters: parameters('{"who":{"type":"INTEGER","value":2}}') });
      expect(texts(read.rows)).toEqual(['[1,"100"]', '[5,"500"]']);
      expect(read).toMatchObject({ row_count: 2, truncated: true, wall_ms: expect.any(Number) });
      expect(read.schema.map((column) => column.name)).toEqual(['id', 'total_cents']);
      expect(read.plan).toMatchObject({ scan: expect.stringMatching(/orders/), raw: expect.any(String) });
      if (name !== 'lite') expect(read.plan?.estimated_rows).toBeGreaterThanOrEqual(0);
    });

    it.each([
      'DELETE FROM orders',
      'WITH gone AS (DELETE FROM orders RETURNING *) SELECT * FROM gone',
      'SELECT 1; DELETE FROM orders',
      'SELECT * INTO copied FROM orders',
      'SELECT * FROM orders FOR UPDATE',
      'EXPLAIN SELECT 1',
      '',
    ])('refuses %j as a wrong argument, before any connection is asked for', async (sql) => {
      const refused = await refusal(probe(name, sql));
      expect(refused).toMatchObject({ code: 'pipeline.execution.invalid_parameter_type', details: { field: 'sql' } });
      expect(scene.bench.pools.leased(name)).toBeUndefined();
    });

    it('gives the database’s own refusal, once, and the datasource serves on', async () => {
      const refused = await refusal(probe(name, 'SELECT nothing_here FROM orders'));
      expect(refused).toMatchObject({ code: 'pipeline.node.query_execution_failed', details: { reason: 'other' } });
      expect(texts((await probe(name, 'SELECT count(*) AS n FROM orders')).rows)).toEqual(['["60"]']);
    });
  });

  it('ends a statement that would run for ever, and still tells its plan', async () => {
    const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';
    const refused = await refusal(probe('pg', endless, { timeout_seconds: 1 }));
    expect(refused.code).toBe('pipeline.node.query_timeout');
    expect(refused.details).toMatchObject({
      wall_ms: expect.any(Number),
      plan: { raw: expect.stringMatching(/Recursive/) },
    });
  });

  it('stops when nobody waits for the answer any more', async () => {
    const leaving = new AbortController();
    const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';
    const running = refusal(scene.bench.probe.run(scene.team.author, 'duck', { sql: endless }, leaving.signal));
    setTimeout(() => leaving.abort(), 100);
    expect(await running).toMatchObject({ code: 'pipeline.node.query_timeout', details: { reason: 'given_up' } });
  });

  it.each<[string, JsonObject | undefined]>([
    ['parameters.who', undefined],
    ['parameters.who', parameters('{"who":{"type":"INTEGER"}}')],
    ['parameters.who', parameters('{"who":{"type":"INTEGER","value":"planted-secret"}}')],
    ['parameters.who', parameters('{"who":{"type":"INTEGER","value":3000000000}}')],
    ['parameters.who', parameters('{"who":{"type":"WHOLE","value":1}}')],
    ['parameters.who', parameters('{"who":{"type":"DECIMAL","precision":40,"value":1}}')],
    ['parameters.who', parameters('{"who":{"type":"INTEGER","value":1,"note":"planted-secret"}}')],
    ['parameters.who', parameters('{"who":1}')],
    ['parameters', parameters('{"planted-secret":{"type":"INTEGER","value":1}}')],
  ])('refuses %s as it was supplied and never shows its value', async (field, supplied) => {
    const work = probe('pg', 'SELECT :who', { parameters: supplied });
    const refused = await refusal(work);
    expect(refused).toMatchObject({ code: 'pipeline.execution.invalid_parameter_type', details: { field } });
    expect(String(await work.catch((error: Error) => error.message))).not.toContain('planted-secret');
  });

  it.each([
    ['DATE', '"01/02/2026"', 'such as "2026-03-01"'],
    ['TIME', '"noon"', 'such as "07:05:09"'],
    ['TIMESTAMP', '"yesterday"', 'such as "2026-03-01T07:05:09Z"'],
    ['INTEGER', '"many"', 'such as 42'],
    ['BINARY', '"*"', 'such as "aGVsbG8=" in base64'],
    ['BOOLEAN', '"perhaps"', 'such as true'],
  ])('shows the form of a %s to who sends %s', async (type, value, form) => {
    const supplied = parameters(`{"who":{"type":"${type}","value":${value}}}`);
    const work = probe('pg', 'SELECT :who', { parameters: supplied });
    await expect(work).rejects.toThrow(`“parameters.who.value” does not have the form of ${type}, ${form}.`);
  });

  it('binds the typed NULL and exact numbers', async () => {
    const supplied = parameters(
      '{"a":{"type":"STRING","value":null},"b":{"type":"BIGINTEGER","value":"9007199254740993"}}',
    );
    expect(texts((await probe('pg', 'SELECT :a AS a, :b AS b', { parameters: supplied })).rows)).toEqual([
      '[null,"9007199254740993"]',
    ]);
  });

  it('cuts what is asked beyond the bounds and refuses what is no number of rows', async () => {
    const many = 'SELECT i FROM generate_series(1, 900) t(i)';
    expect(await probe('pg', many, { limit: 100_000 })).toMatchObject({ row_count: 500, truncated: true });
    expect(await refusal(probe('pg', many, { limit: 0 }))).toMatchObject({ details: { field: 'limit' } });
    expect(await refusal(probe('pg', `SELECT 1 ${' '.repeat(65_536)}`))).toMatchObject({
      details: { reason: 'too_long' },
    });
    expect(await refusal(probe('pg', 'SELECT 1 \u0000; DROP TABLE orders'))).toMatchObject({
      details: { field: 'sql' },
    });
  });

  it('takes ten seconds at most unless told, and never more than thirty', async () => {
    const run = jest.spyOn(scene.bench.reads, 'run');
    const given = async (more: object) => {
      await probe('pg', 'SELECT 1', more);
      return run.mock.lastCall?.[3].timeoutMs;
    };
    expect(await given({})).toBe(10_000);
    expect(await given({ timeout_seconds: 30 })).toBe(30_000);
    expect(await given({ timeout_seconds: 31 })).toBe(30_000);
    run.mockRestore();
  });

  it('keeps to whom it is for: authors, their own workspace, a key with the author scope, no staging tables', async () => {
    const run = (who: Parameters<typeof scene.bench.probe.run>[0], name = 'pg') =>
      refusal(scene.bench.probe.run(who, name, { sql: 'SELECT 1' }));
    expect((await run(scene.team.viewer)).code).toBe('auth.role_required');
    expect((await run(scene.team.key('execute'))).code).toBe('auth.scope.insufficient');
    expect((await run(scene.others.author)).code).toBe('datasource.not_found');
    expect(await run(scene.team.author, 'tempdb')).toMatchObject({
      code: 'pipeline.node.standalone_execution_refused',
      details: { reason: 'tempdb_source' },
    });
    await scene.bench.service.grant(scene.team.root, 'pg', 'others');
    expect((await scene.bench.probe.run(scene.others.author, 'pg', { sql: 'SELECT 1' })).row_count).toBe(1);
    await scene.bench.service.revoke(scene.team.root, 'pg', 'others');
    expect((await run(scene.others.author)).code).toBe('datasource.not_found');
  });

  it('a database that is away is 502 without its words', async () => {
    await scene.registerPostgres('down', { jdbc_url: 'jdbc:postgresql://127.0.0.1:1/x' });
    expect(await refusal(probe('down', 'SELECT 1'))).toMatchObject({
      code: 'pipeline.execution.datasource_unreachable',
      details: { datasource: 'down', reason: 'ECONNREFUSED' },
    });
  });

  it('each person has two at a time, over all processes; a third is told to wait and the slots come back', async () => {
    const waiting = scene.onPostgres('BEGIN; LOCK TABLE orders IN ACCESS EXCLUSIVE MODE');
    await waiting;
    const locked = ['SELECT 1 FROM orders', 'SELECT 2 FROM orders'].map((sql) =>
      refusal(probe('pg', sql, { timeout_seconds: 2 })),
    );
    await untilSlots(2);
    expect(await refusal(probe('lite', 'SELECT 1'))).toMatchObject({
      code: 'rate_limit.exceeded',
      details: { limit: 2, window: 'concurrent_probes' },
    });
    expect(
      await scene.bench.probe.run(scene.others.author, 'lite', { sql: 'SELECT 1' }).catch((e: { code: string }) => e),
    ).toMatchObject({ code: 'datasource.not_found' });
    await Promise.all(locked);
    expect((await probe('lite', 'SELECT 1')).row_count).toBe(1);
  });

  afterEach(async () => {
    await scene.onPostgres('ROLLBACK');
  });

  it('leaves an audit row of hash and length; neither SQL nor values nor rows are in it', async () => {
    const sql = "SELECT 'planted-secret' AS told, :v AS v";
    await probe('pg', sql, { parameters: parameters('{"v":{"type":"STRING","value":"planted-value"}}') });
    await refusal(probe('pg', "SELECT 'planted-secret' FROM missing"));
    const rows = (await scene.team.audit()).filter(([event]) => event === 'datasource.probed');
    expect(rows.map(([, details]) => details)).toEqual([
      expect.objectContaining({ datasource: 'pg', tool: 'sql_probe', outcome: 'ok', ...sqlFacts(sql) }),
      expect.objectContaining({ outcome: 'failed', code: 'pipeline.node.query_execution_failed' }),
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/planted|SELECT/);
  });

  async function untilSlots(count: number): Promise<void> {
    for (let attempt = 0; attempt < 200 && (scene.bench.pools.leased('pg') ?? 0) < count; attempt += 1)
      await new Promise((resolve) => setTimeout(resolve, 20));
  }
});
