import type { DuckDBInstance } from '@duckdb/node-api';

import { DuckdbConnection, type NativeCalls } from '#libs/datasources';

/** A session for work of our own; it ends with the work, and an abort interrupts the engine. */
export async function withSession<T>(
  instance: DuckDBInstance,
  calls: NativeCalls,
  work: (session: DuckdbConnection) => Promise<T>,
): Promise<T> {
  const session = new DuckdbConnection(await instance.connect(), calls, () => undefined);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

export async function runAll(
  session: DuckdbConnection,
  statements: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  await session.call(async (native) => {
    for (const sql of statements) await native.run(sql);
  }, signal);
}
