import { PenstockError } from '#libs/kernel';
import { setTimeout as delay } from 'node:timers/promises';
import { EngineFailure } from './engine-failure.js';
import type { StagingConnection } from './staging-connection.js';
import type { StagingEngine } from './staging-engine.js';
import type { StagingFactory } from './staging-factory.js';

const NEVER = new AbortController().signal;

/** What author SQL must not reach, whichever way the engine was built. */
const REFUSED = {
  'file read': `SELECT * FROM read_csv('/etc/hostname')`,
  'file write': `COPY (SELECT 1) TO '/tmp/penstock-self-test'`,
  attach: `ATTACH '/tmp/penstock-self-test.duckdb' AS other`,
  export: `EXPORT DATABASE '/tmp/penstock-self-test'`,
  install: `INSTALL httpfs`,
  'configuration change': `SET memory_limit = '64GB'`,
} as const;

const HEAVY = 'SELECT sum(a.range * b.range) FROM range(10000000) a, range(100000) b';
const CUT = `SELECT CASE WHEN range = 400000 THEN error('cut') ELSE repeat('x', 100) END FROM range(500000)`;

/**
 * Proves at boot that the engine keeps what the product promises (contract 02 §6.1). `capped` builds engines that may
 * spill almost nothing. Rejects with `pipeline.staging.engine_unavailable`, naming the check, and the boot stops.
 */
export async function stagingSelfTest(factory: StagingFactory, capped: StagingFactory): Promise<void> {
  await withEngine(factory, 'self-test', async (engine) => {
    for (const [what, sql] of Object.entries(REFUSED)) {
      await expectFailure(what, () => engine.withConnection(NEVER, (connection) => connection.run(sql, NEVER)));
    }
    await checkInterrupt(engine);
    await engine.withConnection(NEVER, checkCutStream);
  });
  await withEngine(capped, 'self-test-spill', async (engine) => {
    const fill = 'CREATE TABLE t AS SELECT range, hash(range) AS h, hash(range + 1) AS i FROM range(20000000)';
    const failure = await expectFailure('spill cap', () =>
      engine.withConnection(NEVER, (connection) => connection.run(fill, NEVER)),
    );
    if (failure.kind !== 'out_of_memory') throw unavailable('spill cap', failure);
  });
}

/** An engine opens, answers and closes: what the health check asks for. */
export async function stagingAnswers(factory: StagingFactory, signal: AbortSignal): Promise<void> {
  const engine = await factory.create('health', { maxMemoryMb: 64, signal });
  try {
    await engine.withConnection(signal, (connection) => connection.run('SELECT 1', signal));
  } finally {
    await engine.close();
  }
}

async function withEngine(factory: StagingFactory, name: string, work: (engine: StagingEngine) => Promise<void>) {
  const engine = await factory.create(name, { maxMemoryMb: 64, signal: NEVER });
  try {
    await work(engine);
  } finally {
    await engine.close();
  }
}

async function checkInterrupt(engine: StagingEngine): Promise<void> {
  const stop = new AbortController();
  const heavy = engine.withConnection(stop.signal, (connection) => connection.run(HEAVY, stop.signal));
  const ended = heavy.then(
    () => 'finished',
    () => 'stopped',
  );
  await delay(20);
  stop.abort();
  if ((await Promise.race([ended, delay(5000, 'still running')])) !== 'stopped') throw unavailable('interrupt');
}

/**
 * A streamed query that fails midway ends like a complete one. In a transaction the failure shows in the next
 * statement, which is what readers of streams rely on (contract 02 §5.2).
 */
async function checkCutStream(connection: StagingConnection): Promise<void> {
  await connection.run('BEGIN', NEVER);
  const result = await connection.call((native) => native.stream(CUT), NEVER);
  let rows = 0;
  try {
    for (;;) {
      const chunk = await connection.call(() => result.fetchChunk(), NEVER);
      if (!chunk || chunk.rowCount === 0) break;
      rows += chunk.rowCount;
    }
  } catch (error) {
    // An engine that reports the failure itself needs no probe.
    if (error instanceof EngineFailure) return;
    throw error;
  }
  if (rows >= 500_000) throw unavailable('cut stream');
  await expectFailure('cut stream', () => connection.run('SELECT 1', NEVER));
}

async function expectFailure(what: string, work: () => Promise<unknown>): Promise<EngineFailure> {
  try {
    await work();
  } catch (error) {
    if (error instanceof EngineFailure) return error;
    throw error;
  }
  throw unavailable(what);
}

function unavailable(check: string, cause?: unknown): PenstockError {
  return new PenstockError('pipeline.staging.engine_unavailable', {
    message: `The staging engine failed its boot check "${check}".`,
    details: { check },
    cause,
  });
}
