import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from '../fixtures/api-client.js';
import { Deployment } from '../fixtures/deployment.js';
import { EventStream } from '../fixtures/event-stream.js';
import { eventually } from '../fixtures/eventually.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { RunScene } from '../fixtures/run-scene.js';
import type { ServerProcess } from '../fixtures/server-process.js';
import { ask } from '../fixtures/sql.js';

const POOL = 10;
const CONTROL_POOL = 2;
const SOURCE_POOL = 10;
const MIB = 1024 * 1024;

describeWithProgram('redis-server', 'clients that go away without a word', (redis) => {
  const spill = mkdtempSync(join(tmpdir(), 'penstock-spill-'));
  let deployment: Deployment;
  let scene: RunScene;
  let onA: ApiClient;
  let onB: ApiClient;

  beforeAll(async () => {
    deployment = await Deployment.start({
      redis,
      servers: 2,
      env: {
        DATAPIPELINES_SSE_DISCONNECT_GRACE_SECONDS: '1',
        DATAPIPELINES_SSE_HEARTBEAT_INTERVAL_SECONDS: '1',
        DATAPIPELINES_SSE_MAX_STREAMS_PER_USER: '100',
        DATAPIPELINES_EXECUTOR_MAX_CONCURRENT_EXECUTIONS_PER_USER: '20',
        DATAPIPELINES_METADATA_DB_POOL_MAX: String(POOL),
        DATAPIPELINES_STAGING_SPILL_DIRECTORY: spill,
      },
    });
    scene = await RunScene.build(deployment);
    onA = deployment.author;
    onB = deployment.author.on(deployment.servers[1]!.baseUrl);
  }, 90_000);

  afterAll(async () => {
    await deployment?.stop();
    await scene?.drop();
    rmSync(spill, { recursive: true, force: true });
  });

  const leases = async (kind: string): Promise<string[]> => {
    const keys = await deployment.redis.client.keys(`dp:${kind}:*`);
    const held = await Promise.all(keys.map((key) => deployment.redis.client.zrange(key, 0, -1)));
    return held.flat();
  };
  const noLeases = (kind: string) => eventually(`no ${kind} leases`, async () => (await leases(kind)).length === 0);

  it('an attached run whose client is gone ends after the grace, and says why', async () => {
    // Nobody would ever read it; left alone it would hold a slot and a connection.
    const stream = await EventStream.run(onA, scene.sleeping, { seconds: 60 });
    await scene.untilSleeping(1);
    stream.drop();
    expect(await scene.ended(stream.executionId)).toBe('ABORTED');
    const replay = await EventStream.watch(onB, stream.executionId);
    expect(await replay.until('execution_aborted')).toMatchObject({ reason: 'client_disconnect' });
    await scene.untilSleeping(0);
    await Promise.all([noLeases('sse'), noLeases('slots')]);
  });

  it('a client that is gone before the answer begins does not keep its run alive either', async () => {
    const before = await running();
    for (const wait of [0, 2, 5, 10, 20]) {
      const abort = new AbortController();
      const sent = onA
        .call(
          'POST',
          `/api/v1/pipelines/${scene.sleeping}/execute`,
          { parameters: { seconds: 50 } },
          { signal: abort.signal },
        )
        .catch(() => undefined);
      await delay(wait);
      abort.abort();
      await sent;
    }
    await eventually('the end of every run nobody waits for', async () => (await running()) === before);
    await scene.untilSleeping(0);
    await Promise.all([noLeases('sse'), noLeases('slots')]);
  });

  it('who comes back in time, even on another server, saves the run', async () => {
    const stream = await EventStream.run(onA, scene.sleeping, { seconds: 3.5 });
    await stream.until('node_started');
    stream.drop();
    const back = await EventStream.watch(onB, stream.executionId, stream.ids.at(-1));
    expect(await back.last()).toBe('data_ready');
    const ids = [...stream.ids, ...back.ids];
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    expect(await scene.ended(stream.executionId)).toBe('SUCCESS');
  });

  it('two hundred dropped streams leave no lease and no memory behind', async () => {
    const id = await scene.launch(onA, scene.sleeping, { seconds: 60 });
    const wave = async () => {
      const streams = await Promise.all(
        Array.from({ length: 50 }, (_, n) => EventStream.watch(n % 2 === 0 ? onA : onB, id)),
      );
      await Promise.all(streams.map((stream) => stream.until('node_started')));
      expect((await leases('sse')).length).toBeGreaterThanOrEqual(50);
      for (const stream of streams) stream.drop();
      await noLeases('sse');
    };
    await wave();
    const before = deployment.servers.map(residentBytes);
    for (let n = 0; n < 4; n += 1) await wave();
    const grown = deployment.servers.map((server, index) => residentBytes(server) - before[index]!);
    for (const bytes of grown) expect(bytes).toBeLessThan(64 * MIB);
    expect(await metric(deployment.servers[0]!, 'datapipelines_sse_streams_active')).toBe(0);
    // A detached run is nobody's connection: it goes on without watchers.
    expect((await onB.data('GET', `/api/v1/executions/${id}`)).status).toBe('RUNNING');
    await onB.data('DELETE', `/api/v1/executions/${id}`);
    await scene.ended(id);
  });

  it('two hundred runs of every kind leave nothing behind', async () => {
    const kinds: (() => Promise<unknown>)[] = [
      async () => (await EventStream.run(onA, scene.quick)).last(),
      async () => (await EventStream.run(onB, scene.staged, { rows: 2000 })).last(),
      async () => scene.ended(await scene.launch(onB, scene.silent, { seconds: 0.01 })),
      async () => {
        const id = await scene.launch(onA, scene.sleeping, { seconds: 30 });
        await onB.call('DELETE', `/api/v1/executions/${id}`);
        return scene.ended(id);
      },
      // Division by zero in the source: a run that fails.
      async () => (await EventStream.run(onB, scene.failing)).last(),
    ];
    let started = 0;
    const worker = async () => {
      for (let n = started++; n < 200; n = started++) await kinds[n % kinds.length]!();
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    await Promise.all([noLeases('sse'), noLeases('slots')]);

    const store = deployment.redis.client;
    const keys = await store.keys('*');
    const eternal = (await Promise.all(keys.map(async (key) => ({ key, ttl: await store.ttl(key) })))).filter(
      ({ ttl }) => ttl === -1,
    );
    expect(eternal).toEqual([]);
    expect(keys.filter((key) => key.startsWith('dp:cancel:'))).toEqual([]);
    const [metadata] = await ask<{ n: number }>(
      deployment.database.superuserUrl,
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND usename = 'penstock'`,
    );
    expect(metadata?.n).toBeLessThanOrEqual(2 * (POOL + CONTROL_POOL));
    expect(await scene.connections()).toBeLessThanOrEqual(2 * SOURCE_POOL);
    expect(await scene.sleepers()).toBe(0);
    expect(files(spill)).toEqual([]);
    for (const server of deployment.servers) {
      expect(await metric(server, 'datapipelines_executions_concurrent')).toBe(0);
      expect(await metric(server, 'datapipelines_staging_engines')).toBe(0);
      expect(server.output).not.toMatch(/unhandled|uncaught/i);
    }
    const ends = await deployment.metadata<{ status: string; n: number }>(
      'SELECT status, count(*)::int AS n FROM pipeline_executions GROUP BY status',
    );
    expect(ends.map(({ status }) => status).sort()).toEqual(['ABORTED', 'FAILED', 'SUCCESS']);
    expect(
      await deployment.metadata(
        `SELECT execution_id FROM execution_events
          WHERE event_type IN ('pipeline_completed', 'pipeline_failed', 'execution_aborted')
          GROUP BY execution_id HAVING count(*) <> 1`,
      ),
    ).toEqual([]);
  }, 60_000);

  async function running(): Promise<number> {
    const [row] = await deployment.metadata<{ n: number }>(
      `SELECT count(*)::int AS n FROM pipeline_executions WHERE status = 'RUNNING'`,
    );
    return row?.n ?? -1;
  }
});

function residentBytes({ process: child }: ServerProcess): number {
  const pages = readFileSync(`/proc/${child.pid}/statm`, 'utf8').split(' ')[1];
  return Number(pages) * 4096;
}

async function metric({ managementUrl }: ServerProcess, name: string): Promise<number> {
  const text = await (await fetch(`${managementUrl}/metrics`)).text();
  const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
  if (value === undefined) throw new Error(`There is no metric ${name}`);
  return Number(value);
}

/** Files below a folder; folders of live instances may stand there, empty. */
function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
