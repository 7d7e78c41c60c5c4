import { join } from 'node:path';

import type { Configuration } from '#libs/kernel';
import type { Dialect } from '#libs/typesystem';

import type { DialectDriver } from './dialect-driver.js';
import { DriverFailure, errnoOf } from './driver-failure.js';
import { duckdbDriver } from './duckdb/duckdb.driver.js';
import { DuckdbInstances } from './duckdb/instances.js';
import type { NativeCallGate } from './duckdb/native-call-gate.js';
import { DatasourceCalls } from './duckdb/native-calls.js';
import type { FurtherDrivers } from './further-drivers.js';
import { h2Driver } from './h2/h2.driver.js';
import { loadMssql, proveMssql } from './mssql/library.js';
import { mssqlDriver } from './mssql/mssql.driver.js';
import { mysqlDriver } from './mysql/mysql.driver.js';
import { loadOracle } from './oracle/library.js';
import { oracleDriver } from './oracle/oracle.driver.js';
import { postgresDriver } from './postgres/postgres.driver.js';
import { DriverRegistry } from './registry.js';
import { sqliteDriver } from './sqlite/sqlite.driver.js';

/** Drivers whose library must prove at boot that it reads exact values; one that does not is left out (01 §6.5). */
const PROVEN: readonly [Dialect, () => Promise<DialectDriver>][] = [
  [
    'MSSQL',
    async () => {
      await proveMssql();
      return mssqlDriver(loadMssql);
    },
  ],
  ['ORACLE', async () => oracleDriver(await loadOracle())],
];

/** The drivers of this process, each self-tested where its library needs it. `gate` is the process's own. */
export async function loadDrivers(
  config: Configuration,
  gate: NativeCallGate,
  further?: FurtherDrivers,
): Promise<DriverRegistry> {
  const calls = new DatasourceCalls(gate);
  const limits = {
    memoryMb: config.get('datapipelines.staging.max-memory-mb'),
    threads: config.get('datapipelines.staging.threads'),
    temporaryDirectory: join(config.get('datapipelines.staging.spill-directory'), 'penstock-datasources'),
    besideThreads: config.get('datapipelines.executor.host') === 'threads',
  };
  const instances = new DuckdbInstances(limits, calls);
  const drivers = [
    postgresDriver,
    mysqlDriver,
    h2Driver,
    sqliteDriver,
    duckdbDriver(instances, calls),
    ...(further?.drivers({ calls }) ?? []),
  ];
  return await withProven(drivers, PROVEN);
}

export async function withProven(
  drivers: readonly DialectDriver[],
  proven: readonly [Dialect, () => Promise<DialectDriver>][],
): Promise<DriverRegistry> {
  const loaded = [...drivers];
  const unavailable = new Map<Dialect, string>();
  for (const [dialect, load] of proven) {
    try {
      loaded.push(await load());
    } catch (error) {
      unavailable.set(dialect, whyNot(dialect, error));
    }
  }
  return new DriverRegistry(loaded, unavailable);
}

function whyNot(dialect: Dialect, error: unknown): string {
  if (error instanceof DriverFailure) return `${dialect} is not available: ${error.message}`;
  const missing = errnoOf(error) === 'ERR_MODULE_NOT_FOUND' || errnoOf(error) === 'MODULE_NOT_FOUND';
  const reason = missing ? 'its package is not installed.' : 'its package could not be loaded.';
  return `${dialect} is not available: ${reason}`;
}
