import { access } from 'node:fs/promises';
import { join } from 'node:path';

import { DriverFailure } from '#libs/datasources';

import type { LakeOptions } from '../options/lake-options.js';
import { literal } from '../tables/table-scan.js';
import type { MachineIdentity } from './s3-storage.js';

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
 * @param machine the identity of this machine, for a datasource that brings none; undefined where it is not to be sent
 * @returns false when the tables are read through copies; until when the engine can enter
 * @throws DriverFailure when httpfs is asked for and cannot be had
 */
export async function openHttpfs(
  engine: OpenEngine,
  { mode, directory, allowInstall }: HttpfsSettings,
  options: LakeOptions,
  login: { username: string | null; secret: string | null },
  machine: () => Promise<MachineIdentity | undefined>,
): Promise<false | { validUntil: number | undefined }> {
  if (mode === 'mirror') return false;
  if (directory === undefined) return refusedUnlessAuto(mode, 'datapipelines.duckdb.extension-directory is not set');
  const [row] = await engine.query(
    'SELECT library_version, (SELECT platform FROM pragma_platform()) FROM pragma_version()',
  );
  const file = join(directory, row?.[0] ?? '', row?.[1] ?? '', 'httpfs.duckdb_extension');
  const home = `SET GLOBAL extension_directory = ${literal(directory)}`;
  const there = await isThere(file);
  if (!there && !allowInstall) return refusedUnlessAuto(mode, `its file ${file} is not there`);
  const entry = await entryOf(options, login, machine).catch((error: unknown) => {
    if (!(error instanceof DriverFailure)) throw error;
    return refusedUnlessAuto(mode, `this machine has no AWS identity (${error.message})`, 'HTTPFS_CREDENTIAL');
  });
  if (!entry) return refusedUnlessAuto(mode, 'an endpoint needs a credential, or unsigned', 'HTTPFS_CREDENTIAL');
  const load = there ? [home, `LOAD ${literal(file)}`] : [home, 'INSTALL httpfs', 'LOAD httpfs'];
  await step(engine, load, 'HTTPFS_LOAD', 'The engine could not load httpfs');
  await step(engine, [secretStatement(options, entry)], 'HTTPFS_CREDENTIAL', 'httpfs did not take the credential');
  return { validUntil: entry.validUntil };
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

interface Entry {
  /** What the secret says of who enters. */
  says: string[];
  validUntil: number | undefined;
}

/** The datasource's own credential, none, or who this machine is: the engine has no way of its own to that. */
async function entryOf(
  { unsigned }: LakeOptions,
  { username, secret }: { username: string | null; secret: string | null },
  machine: () => Promise<MachineIdentity | undefined>,
): Promise<Entry | undefined> {
  if (unsigned) return { says: [], validUntil: undefined };
  if (username !== null && secret !== null)
    return { says: [`KEY_ID ${literal(username)}`, `SECRET ${literal(secret)}`], validUntil: undefined };
  const found = await machine();
  if (!found) return undefined;
  const { accessKeyId, secretAccessKey, sessionToken, validUntil } = found;
  const token = sessionToken === undefined ? [] : [`SESSION_TOKEN ${literal(sessionToken)}`];
  return { says: [`KEY_ID ${literal(accessKeyId)}`, `SECRET ${literal(secretAccessKey)}`, ...token], validUntil };
}

function secretStatement({ endpoint, region = 'us-east-1', urlStyle }: LakeOptions, { says }: Entry): string {
  const style = urlStyle ?? (endpoint ? 'path' : undefined);
  const place = [
    `REGION ${literal(region)}`,
    ...(endpoint ? [`ENDPOINT ${literal(`${endpoint.host}:${endpoint.port}`)}`, 'USE_SSL false'] : []),
    ...(style === undefined ? [] : [`URL_STYLE ${literal(style)}`]),
  ];
  return `CREATE SECRET lake (TYPE s3, ${[...says, ...place].join(', ')})`;
}

async function isThere(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}
