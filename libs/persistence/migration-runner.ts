import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { DataSource, type QueryRunner } from 'typeorm';
import { PenstockError } from '#libs/kernel';
import { serverMigrations, type SqlMigration } from '../../migrations/server/index.js';
import { databaseFailure } from './database-failure.js';
import { requireVersion, SESSION_FACTS, type SessionFacts } from './server-requirements.js';

/** Two words in ASCII ("PNST", "MIGR"): the advisory lock that only migration runs take. */
const LOCK = [0x504e5354, 0x4d494752] as const;
const LOCK_POLL_MS = 200;

export interface MigrationState {
  applied: string[];
  pending: string[];
  /** Applied by a newer version of Penstock: allowed, so that servers can be replaced one by one. */
  unknown: string[];
}

export interface MigrationOptions {
  migrations?: readonly SqlMigration[];
  signal?: AbortSignal;
  log?: (message: string) => void;
}

/**
 * Applies what is pending, each migration in its own transaction together with its ledger row. Any number of processes
 * may call it at once: one applies, the others wait for its advisory lock and find nothing to do.
 * Refuses when an applied migration's text no longer has the checksum it was applied with.
 */
export async function runMigrations(url: string, options: MigrationOptions = {}): Promise<string[]> {
  const { migrations = serverMigrations, signal, log = () => undefined } = options;
  return connected(url, async (runner) => {
    for (const facts of await ask<SessionFacts>(runner, SESSION_FACTS)) requireVersion(facts);
    await lock(runner, signal, log);
    await ask(runner, 'CREATE SCHEMA IF NOT EXISTS penstock_meta');
    await ask(
      runner,
      `CREATE TABLE IF NOT EXISTS penstock_meta.migrations (
         name TEXT PRIMARY KEY, checksum TEXT NOT NULL, applied_at TIMESTAMPTZ NOT NULL DEFAULT NOW())`,
    );
    const { pending } = compare(migrations, await ledger(runner));
    for (const migration of migrations.filter(({ name }) => pending.includes(name))) {
      signal?.throwIfAborted();
      await apply(runner, migration);
      log(`Applied migration ${migration.name}.`);
    }
    return pending;
  });
}

/** What the ledger says beside the migrations of this version; refuses on a changed checksum, like `runMigrations`. */
export async function migrationState(url: string, options: MigrationOptions = {}): Promise<MigrationState> {
  const { migrations = serverMigrations } = options;
  return connected(url, async (runner) => compare(migrations, await ledger(runner)));
}

export function checksumOf(migration: SqlMigration): string {
  return createHash('sha256').update(migration.sql).digest('hex');
}

async function connected<T>(url: string, work: (runner: QueryRunner) => Promise<T>): Promise<T> {
  const source = new DataSource({
    type: 'postgres',
    driver: pg,
    url,
    applicationName: 'penstock migrate',
    poolSize: 1,
    connectTimeoutMS: 10_000,
    installExtensions: false,
    logging: false,
    // The statement that was running reports the failure.
    poolErrorHandler: () => undefined,
  });
  try {
    await source.initialize().catch((error: unknown) => {
      throw databaseFailure(error, 'connect');
    });
    const runner = source.createQueryRunner();
    try {
      return await work(runner);
    } finally {
      await runner.release();
    }
  } finally {
    // Ends the session, and with it the advisory lock.
    if (source.isInitialized) await source.destroy();
  }
}

/** Polls instead of waiting in the server, so that an abort is heard and no snapshot is held meanwhile. */
async function lock(
  runner: QueryRunner,
  signal: AbortSignal | undefined,
  log: (message: string) => void,
): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    signal?.throwIfAborted();
    const [row] = await ask<{ held: boolean }>(runner, 'SELECT pg_try_advisory_lock($1, $2) AS held', LOCK);
    if (row?.held) return;
    if (attempt === 0) log('Another process is migrating this database; waiting for it.');
    await delay(LOCK_POLL_MS, undefined, { signal });
  }
}

async function ask<R>(runner: QueryRunner, sql: string, params?: readonly unknown[]): Promise<R[]> {
  try {
    return ((await runner.query(sql, params && [...params], true)).records ?? []) as R[];
  } catch (error) {
    throw databaseFailure(error, sql);
  }
}

async function apply(runner: QueryRunner, migration: SqlMigration): Promise<void> {
  await runner.startTransaction();
  try {
    await migration.up(runner);
    await runner.query('INSERT INTO penstock_meta.migrations (name, checksum) VALUES ($1, $2)', [
      migration.name,
      checksumOf(migration),
    ]);
    await runner.commitTransaction();
  } catch (error) {
    const failure = databaseFailure(error, migration.name);
    if (!failure.connectionLost) await runner.rollbackTransaction();
    throw new PenstockError('internal', {
      message: `Migration ${migration.name} failed and left nothing behind: ${failure.message}`,
      details: { migration: migration.name, sqlstate: failure.code },
      cause: failure,
    });
  }
}

interface LedgerRow {
  name: string;
  checksum: string;
}

async function ledger(runner: QueryRunner): Promise<LedgerRow[]> {
  const [found] = await ask<{ present: boolean }>(
    runner,
    `SELECT to_regclass('penstock_meta.migrations') IS NOT NULL AS present`,
  );
  if (!found?.present) return [];
  return ask<LedgerRow>(runner, 'SELECT name, checksum FROM penstock_meta.migrations ORDER BY name');
}

function compare(migrations: readonly SqlMigration[], rows: readonly LedgerRow[]): MigrationState {
  const stored = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  const changed = migrations.filter((migration) => {
    const checksum = stored.get(migration.name);
    return checksum !== undefined && checksum !== checksumOf(migration);
  });
  if (changed.length > 0) {
    const names = changed.map(({ name }) => name);
    throw new PenstockError('internal', {
      message:
        `Migration ${names.join(', ')} was changed after it had been applied to this database. ` +
        'Restore its text and put the change into a new migration.',
      details: { reason: 'migration_changed', migrations: names },
    });
  }
  const known = new Set(migrations.map(({ name }) => name));
  return {
    applied: [...stored.keys()],
    pending: migrations.filter(({ name }) => !stored.has(name)).map(({ name }) => name),
    unknown: [...stored.keys()].filter((name) => !known.has(name)),
  };
}
