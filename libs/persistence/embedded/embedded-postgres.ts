import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, rm, stat, writeFile, chown } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { PenstockError } from '#libs/kernel';
import { binaries, type Binaries } from './binaries.js';
import { lockFolder } from './folder-lock.js';
import { Postmaster, stopOrphan } from './postmaster.js';
import { clusterSecrets, type ClusterSecrets } from './secrets.js';
import { dataFolder, serviceUser, type ServiceUser } from './service-user.js';

const run = promisify(execFile);

const SUPERUSER = 'postgres';
const ROLE = 'penstock';
const DATABASE = 'penstock';
const START_MS = 30_000;
const POLL_MS = 20;
/** Another program may take the free port before the server binds it. */
const PORT_ATTEMPTS = 3;

/** `terse` and `panic` keep row values and statements out of the server's log. */
const SETTINGS = {
  wal_level: 'logical',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
};

export interface EmbeddedPostgresOptions {
  /** Penstock's state folder (`.penstock`); everything of the database stands in its `postgres/`. */
  directory: string;
  log: (message: string) => void;
  /** Server settings on top of ours. */
  settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  /** For the plain role `penstock`, which owns the database `penstock`. */
  url: string;
  /** For the set-up superuser. */
  superuserUrl: string;
  pid: number;
  /** Ends the server after a checkpoint and gives the folder free. */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL on `<directory>/postgres`, making the cluster on the first start (00 §2). One process per folder:
 * a second one is refused with the first one's pid. What a killed process left running is ended and taken over.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const folder = join(resolve(options.directory), 'postgres');
  const lock = await lockFolder(folder);
  try {
    const user = await serviceUser();
    const programs = await binaries(user, options.log);
    const secrets = await clusterSecrets(join(folder, 'secrets'));
    const data = await dataFolder(join(folder, 'data'), user, options.log, secrets.superuser);
    if (await stopOrphan(data)) options.log('Ended the embedded PostgreSQL that a killed process had left running.');
    if (!(await isCluster(data))) await initialise(programs, data, user, secrets, folder);
    const postmaster = await start(programs, data, user, options, folder, secrets);
    const url = (role: string, password: string, database: string) =>
      `postgresql://${role}:${password}@127.0.0.1:${postmaster.port}/${database}`;
    let stopped: Promise<void> | undefined;
    return {
      url: url(ROLE, secrets.role, DATABASE),
      superuserUrl: url(SUPERUSER, secrets.superuser, SUPERUSER),
      pid: postmaster.pid ?? 0,
      stop: () => (stopped ??= postmaster.stop().then(() => lock.release())),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function isCluster(data: string): Promise<boolean> {
  try {
    await stat(join(data, 'PG_VERSION'));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Builds the cluster beside its place and renames it, so that a kill half-way leaves no half cluster. */
async function initialise(
  programs: Binaries,
  data: string,
  user: ServiceUser | undefined,
  secrets: ClusterSecrets,
  folder: string,
): Promise<void> {
  const unfinished = await dataFolder(`${data}.unfinished`, user, () => undefined);
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  const passwordFile = join(unfinished, '..', `${process.pid}.password`);
  await writeFile(passwordFile, secrets.superuser, { mode: 0o600 });
  try {
    if (user) await Promise.all([unfinished, passwordFile].map((path) => chown(path, user.uid, user.gid)));
    await run(
      programs.initdb,
      [
        `--pgdata=${unfinished}`,
        `--username=${SUPERUSER}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
      ],
      { ...user, cwd: unfinished, env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } },
    );
  } catch (error) {
    throw failed(
      'The embedded PostgreSQL could not make its data folder',
      folder,
      (error as { stderr?: string }).stderr,
      error,
    );
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rm(data, { recursive: true, force: true });
  await rename(unfinished, data);
}

async function start(
  programs: Binaries,
  data: string,
  user: ServiceUser | undefined,
  options: EmbeddedPostgresOptions,
  folder: string,
  secrets: ClusterSecrets,
): Promise<Postmaster> {
  const logFile = join(folder, 'server.log');
  for (let attempt = 1; ; attempt += 1) {
    const postmaster = await Postmaster.spawn({
      program: programs.postgres,
      data,
      logFile,
      user,
      settings: { ...SETTINGS, ...options.settings },
    });
    try {
      const client = await connect(postmaster, secrets);
      if (client) {
        await ensureDatabase(client, secrets).finally(() => client.end());
        return postmaster;
      }
    } catch (error) {
      await postmaster.stop();
      throw error;
    }
    await postmaster.stop();
    if (attempt === PORT_ATTEMPTS) {
      throw failed('The embedded PostgreSQL did not start', folder, await readFile(logFile, 'utf8'));
    }
  }
}

/** Undefined when the server ended or did not answer in time. */
async function connect(postmaster: Postmaster, secrets: ClusterSecrets): Promise<pg.Client | undefined> {
  const deadline = performance.now() + START_MS;
  while (postmaster.running && performance.now() < deadline) {
    const client = new pg.Client({
      host: '127.0.0.1',
      port: postmaster.port,
      user: SUPERUSER,
      password: secrets.superuser,
      database: SUPERUSER,
    });
    client.on('error', () => undefined); // The statement under way reports it.
    try {
      await client.connect();
      return client;
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === '28P01') throw foreignData();
      if (code !== 'ECONNREFUSED' && code !== '57P03') throw error;
      await delay(POLL_MS);
    }
  }
  return undefined;
}

function foreignData(): PenstockError {
  return new PenstockError('internal', {
    message:
      'The embedded PostgreSQL was not made with the secrets that lie beside it: its data folder and its file of secrets ' +
      'do not belong together. Restore both from the same backup, or remove both to begin anew.',
    details: { reason: 'embedded_secrets' },
  });
}

async function ensureDatabase(client: pg.Client, secrets: ClusterSecrets): Promise<void> {
  const roles = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [ROLE]);
  if (roles.rowCount === 0) {
    await client.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD ${client.escapeLiteral(secrets.role)}`);
  }
  const databases = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
  if (databases.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE} OWNER ${ROLE}`);
}

function failed(what: string, folder: string, output: string | undefined, cause?: unknown): PenstockError {
  const lastLines = (output ?? '').trim().split('\n').slice(-5).join('\n');
  return new PenstockError('internal', {
    message: `${what} in ${folder}.${lastLines ? ` PostgreSQL says: ${lastLines}` : ''}`,
    details: { reason: 'embedded_start', folder },
    cause,
  });
}
