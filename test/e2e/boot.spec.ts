import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient } from '../fixtures/api-client.js';
import { oneNodePipeline, releasedTemplate } from '../fixtures/authoring.js';
import { EventStream } from '../fixtures/event-stream.js';
import { eventually } from '../fixtures/eventually.js';
import { isAlive, scratchRoot } from '../fixtures/keeper-state.js';
import { createEmptyDatabase } from '../fixtures/postgres.js';
import { describeWithProgram } from '../fixtures/programs.js';
import { startRedis } from '../fixtures/redis.js';
import { ServerEnded, ServerProcess } from '../fixtures/server-process.js';

/** Starts a server that must not come to serve; how it ended. */
async function refused(start: Promise<ServerProcess>): Promise<ServerEnded> {
  try {
    const server = await start;
    await server.end('SIGKILL');
  } catch (error) {
    if (error instanceof ServerEnded) return error;
    throw error;
  }
  throw new Error('The server serves, although it must not.');
}

describe('a configuration that is not accepted', () => {
  it('in production without settings: every violation at once, so that one restart is enough', async () => {
    const { exitCode, output } = await refused(ServerProcess.launch({ NODE_ENV: 'production' }));
    expect(exitCode).toBe(1);
    for (const key of ['metadata-db.url', 'redis.url', 'jwt.secret', 'db.encryption-key', 'auth.local.enabled']) {
      expect(output).toContain(`datapipelines.${key}`);
    }
    for (const variable of ['DATABASE_URL', 'REDIS_URL']) expect(output).toContain(variable);
    expect(output).not.toMatch(/^\s+at /m);
  });

  it('a wrong key in the file is named with its file and the nearest right one, beside a value out of bounds', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'penstock-config-'));
    const file = join(folder, 'penstock.yaml');
    writeFileSync(
      file,
      [
        'datapipelines:',
        '  executor:',
        '    hartbeat-seconds: 5',
        '  jwt:',
        '    secret: short-planted-secret',
        '',
      ].join('\n'),
    );
    try {
      const { exitCode, output } = await refused(
        ServerProcess.launch({ DATAPIPELINES_CONFIG_FILE: file, DATAPIPELINES_EXECUTOR_MAX_PARALLEL_NODES: '0' }),
      );
      expect(exitCode).toBe(1);
      expect(output).toContain('datapipelines.executor.hartbeat-seconds');
      expect(output).toContain('datapipelines.executor.heartbeat-seconds');
      expect(output).toContain('datapipelines.executor.max-parallel-nodes');
      expect(output).toContain(file);
      expect(output).not.toContain('planted');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describeWithProgram('redis-server', 'stores that are not fit', (program) => {
  it('a Redis that evicts is refused, with its policy and the remedy', async () => {
    // Under another policy results and idempotency keys vanish silently; better not to start.
    const redis = await startRedis(program, { policy: 'allkeys-lru' });
    const database = await createEmptyDatabase();
    try {
      const { exitCode, output } = await refused(
        ServerProcess.start({ databaseUrl: database.url, redisUrl: redis.url }),
      );
      expect(exitCode).toBe(1);
      expect(output).toContain('allkeys-lru');
      expect(output).toContain('CONFIG SET maxmemory-policy noeviction');
    } finally {
      await Promise.all([redis.stop(), database.drop()]);
    }
  });

  it('a database that does not answer is named without its password, and the stack names our sources', async () => {
    const redis = await startRedis(program);
    try {
      const { exitCode, output } = await refused(
        ServerProcess.start({ databaseUrl: 'postgresql://penstock:planted-secret@127.0.0.1:1/x', redisUrl: redis.url }),
      );
      expect(exitCode).toBe(1);
      expect(output).toContain('ECONNREFUSED');
      expect(output).not.toContain('planted-secret');
      expect(output).toMatch(/\/apps\/server\/boot\/serve\.ts:\d+/);
    } finally {
      await redis.stop();
    }
  });
});

describe('embedded', () => {
  let folder: string;
  let servers: ServerProcess[];

  beforeEach(() => {
    folder = mkdtempSync(join(scratchRoot, 'penstock-state-'));
    chmodSync(folder, 0o755);
    servers = [];
  });

  afterEach(async () => {
    await Promise.all(servers.map((server) => server.end('SIGKILL')));
    await eventually('the end of the embedded PostgreSQL', () => {
      const pid = postgresOf(folder);
      if (pid === undefined || !isAlive(pid)) return true;
      process.kill(pid, 'SIGQUIT');
      return false;
    });
    rmSync(folder, { recursive: true, force: true });
  });

  const environment = () => ({ DATAPIPELINES_EMBEDDED_DIRECTORY: folder });
  const start = async (): Promise<ServerProcess> => {
    const server = await ServerProcess.launch(environment());
    servers.push(server);
    return server;
  };

  it('a second process on the folder is refused with the first one’s pid; killed, it is taken over and nothing is lost', async () => {
    const first = await start();
    const second = await refused(ServerProcess.launch(environment()));
    expect(second.exitCode).toBe(1);
    expect(second.output).toContain(String(first.process.pid));
    expect(second.output).toContain(folder);
    expect((await fetch(`${first.baseUrl}/ready`)).status).toBe(200);

    const { email, password } = JSON.parse(readFileSync(join(folder, 'admin-password'), 'utf8')) as {
      email: string;
      password: string;
    };
    const chosen = 'a-quiet-river-2026';
    const browser = new ApiClient(first.baseUrl);
    await browser.login(email, password, chosen);
    await releasedTemplate(browser, { id: 'kept/one.sql', dialect: 'DUCKDB', body: 'SELECT 1 AS one' });
    const endless = await oneNodePipeline(browser, {
      name: 'kept/endless',
      source: 'tempdb',
      dialect: 'DUCKDB',
      sql: 'SELECT sum(a.range * b.range) AS s FROM range(10000000) a, range(1000000) b',
    });
    const headers = { Prefer: 'respond-async' };
    const run = await browser.data('POST', `/api/v1/pipelines/${endless}/execute`, {}, { headers });
    await first.end('SIGKILL');

    const next = await start();
    const again = new ApiClient(next.baseUrl);
    expect((await again.login(email, chosen)).status).toBe(200);
    const listed = await again.call('GET', '/api/v1/templates');
    expect(listed.text).toContain('kept/one.sql');
    // Nobody else can own what runs in this folder: the run is over before the server serves, and its watchers know.
    const lost = await again.data('GET', `/api/v1/executions/${run.execution_id}`);
    expect(lost).toMatchObject({ status: 'ABORTED', error: { code: 'pipeline.execution.instance_lost' } });
    const replay = await EventStream.watch(again, run.execution_id as string);
    expect(await replay.until('execution_aborted')).toMatchObject({ reason: 'instance_lost' });
    expect(await next.end('SIGTERM')).toBe(0);
    // An orderly end takes the database with it.
    expect(postgresOf(folder)).toBeUndefined();
    expect(next.output).not.toMatch(/unhandled|uncaught/i);
  }, 90_000);

  it('told to end while it still starts, it ends, and leaves no database running', async () => {
    const starting = refused(ServerProcess.launch(environment()));
    const pid = await eventually('the embedded PostgreSQL', () => postgresOf(folder));
    process.kill(Number(readFileSync(join(folder, 'postgres', 'owner'), 'utf8')), 'SIGTERM');
    expect((await starting).exitCode).toBe(0);
    await eventually('the end of the embedded PostgreSQL', () => !isAlive(pid));
  });
});

/** Pid of the database of an embedded server, from the file PostgreSQL keeps while it runs. */
function postgresOf(folder: string): number | undefined {
  const file = join(folder, 'postgres', 'data', 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
  return Number.isNaN(pid) ? undefined : pid;
}
