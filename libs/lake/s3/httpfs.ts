import { access } from 'node:fs/promises';
import { join } from 'node:path';

import { DriverFailure } from '#libs/datasources';

import type { LakeOptions } from '../options/lake-options.js';
import { literal } from '../tables/table-scan.js';

export interface HttpfsSettings {
  mode: 'auto' | 'httpfs' | 'mirror';
  /** Where extension files stand; undefined: there are none. */
  directory: string | undefined;
  allowInstall: boolean;
}

/** An engine that is not shut off yet. */
export interface OpenEngine {
  run(statements: readonly string[]): Promise<void>;
  query(sql: string): Promise<(string | null)[][]>;
}

/**
 * Lets an engine read S3 itself, where it is to and can: the file of its very version is looked for first, because a bare
 * LOAD would download it (06 §10).
 *
 * @returns false when the tables are read through copies
 * @throws DriverFailure when httpfs is asked for and cannot be had
 */
export async function openHttpfs(
  engine: OpenEngine,
  { mode, directory, allowInstall }: HttpfsSettings,
  options: LakeOptions,
  login: { username: string | null; secret: string | null },
): Promise<boolean> {
  if (mode === 'mirror') return false;
  const statements = accessStatements(options, login);
  // The engine has no way of its own to the identity of this machine; the copies have.
  if (!statements) return refusedUnlessAuto(mode, 'it needs a credential, or unsigned', 'HTTPFS_CREDENTIAL');
  if (directory === undefined) return refusedUnlessAuto(mode, 'datapipelines.duckdb.extension-directory is not set');
  const [row] = await engine.query(
    'SELECT library_version, (SELECT platform FROM pragma_platform()) FROM pragma_version()',
  );
  const file = join(directory, row?.[0] ?? '', row?.[1] ?? '', 'httpfs.duckdb_extension');
  const home = `SET GLOBAL extension_directory = ${literal(directory)}`;
  const there = await isThere(file);
  if (!there && !allowInstall) return refusedUnlessAuto(mode, `its file ${file} is not there`);
  const load = there ? [home, `LOAD ${literal(file)}`] : [home, 'INSTALL httpfs', 'LOAD httpfs'];
  await step(engine, load, 'HTTPFS_LOAD', 'The engine could not load httpfs');
  await step(engine, statements, 'HTTPFS_CREDENTIAL', 'httpfs did not take the credential');
  return true;
}

type HttpfsCode = 'HTTPFS_ABSENT' | 'HTTPFS_CREDENTIAL' | 'HTTPFS_LOAD';

function refusedUnlessAuto(mode: string, reason: string, driverCode: HttpfsCode = 'HTTPFS_ABSENT'): false {
  if (mode === 'auto') return false;
  throw new DriverFailure('connection', `S3 is to be read by httpfs (datapipelines.lake.s3-mode), but ${reason}.`, {
    driverCode,
  });
}

/** An engine that cannot enter its storage cannot be reached, whatever the engine calls that (06 §10). */
async function step(engine: OpenEngine, statements: readonly string[], driverCode: HttpfsCode, says: string) {
  try {
    await engine.run(statements);
  } catch (cause) {
    if (!(cause instanceof DriverFailure) || cause.kind === 'cancelled' || cause.kind === 'timeout') throw cause;
    throw new DriverFailure('connection', `${says}: ${cause.message}`, { driverCode, cause });
  }
}

/** Undefined when requests would have to carry the identity of this machine. */
function accessStatements(
  { endpoint, region = 'us-east-1', unsigned, urlStyle }: LakeOptions,
  { username, secret }: { username: string | null; secret: string | null },
): string[] | undefined {
  const style = urlStyle ?? (endpoint ? 'path' : undefined);
  const place = [
    `REGION ${literal(region)}`,
    ...(endpoint ? [`ENDPOINT ${literal(`${endpoint.host}:${endpoint.port}`)}`, 'USE_SSL false'] : []),
    ...(style === undefined ? [] : [`URL_STYLE ${literal(style)}`]),
  ];
  if (unsigned) return [`CREATE SECRET lake (TYPE s3, ${place.join(', ')})`];
  if (username === null || secret === null) return undefined;
  return [`CREATE SECRET lake (TYPE s3, KEY_ID ${literal(username)}, SECRET ${literal(secret)}, ${place.join(', ')})`];
}

async function isThere(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}
