import { Queue, Worker } from 'bullmq';
import { makeWorkerUtils, run, type Logger } from 'graphile-worker';
import pg from 'pg';
import { PgBoss } from 'pg-boss';

/** A queue of jobs that each read one row of PostgreSQL; `job` resolves when the job it adds is done. */
export interface JobQueue {
  name: string;
  job(): Promise<void>;
  close(): Promise<void>;
}

const NAME = 'bench-job';

interface Where {
  databaseUrl: string;
  redisUrl: string;
  /** Jobs worked on at a time. */
  workers: number;
}

/** What a job does, and who waits for it. */
class Jobs {
  readonly #pool: pg.Pool;
  readonly #waiting = new Map<number, () => void>();
  #last = 0;

  constructor({ databaseUrl, workers }: Where) {
    this.#pool = new pg.Pool({ connectionString: databaseUrl, max: Math.min(workers, 10) });
  }

  async added(add: (nth: number) => Promise<unknown>): Promise<void> {
    const nth = ++this.#last;
    const done = new Promise<void>((resolve) => this.#waiting.set(nth, resolve));
    await add(nth);
    await done;
  }

  async work(nth: number): Promise<void> {
    await this.#pool.query('SELECT 1');
    this.#waiting.get(nth)?.();
    this.#waiting.delete(nth);
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

export async function graphileWorker(where: Where): Promise<JobQueue> {
  const jobs = new Jobs(where);
  const silent = { error: nothing, warn: nothing, info: nothing, debug: nothing, scope: () => silent };
  const logger = silent as unknown as Logger;
  const connection = { connectionString: where.databaseUrl, logger };
  const utils = await makeWorkerUtils(connection);
  await utils.migrate();
  const runner = await run({
    ...connection,
    concurrency: where.workers,
    noHandleSignals: true,
    taskList: { [NAME]: (payload) => jobs.work((payload as { nth: number }).nth) },
  });
  return {
    name: 'graphile-worker',
    job: () => jobs.added((nth) => utils.addJob(NAME, { nth })),
    close: async () => {
      await runner.stop();
      await utils.release();
      await jobs.close();
    },
  };
}

export async function pgBoss(where: Where): Promise<JobQueue> {
  const jobs = new Jobs(where);
  const boss = new PgBoss(where.databaseUrl);
  boss.on('error', nothing);
  await boss.start();
  await boss.createQueue(NAME);
  // Half a second is the shortest time between two looks that it takes.
  const options = { batchSize: where.workers, pollingIntervalSeconds: 0.5 };
  await boss.work<{ nth: number }>(NAME, options, async (batch) => {
    await Promise.all(batch.map(({ data }) => jobs.work(data.nth)));
  });
  return {
    name: 'pg-boss',
    job: () => jobs.added((nth) => boss.send(NAME, { nth })),
    close: async () => {
      await boss.stop({ graceful: false });
      await jobs.close();
    },
  };
}

export async function bullmq(where: Where): Promise<JobQueue> {
  const jobs = new Jobs(where);
  const { hostname: host, port } = new URL(where.redisUrl);
  const connection = { host, port: Number(port) };
  const queue = new Queue<{ nth: number }>(NAME, { connection, prefix: 'bench' });
  const worker = new Worker<{ nth: number }>(NAME, ({ data }) => jobs.work(data.nth), {
    connection: { ...connection, maxRetriesPerRequest: null },
    prefix: 'bench',
    concurrency: where.workers,
  });
  await worker.waitUntilReady();
  return {
    name: 'bullmq',
    job: () => jobs.added((nth) => queue.add(NAME, { nth }, { removeOnComplete: true })),
    close: async () => {
      await worker.close();
      await queue.obliterate({ force: true });
      await queue.close();
      await jobs.close();
    },
  };
}

function nothing(): void {
  // Neither logs nor errors of a peer belong into a measurement's output.
}
