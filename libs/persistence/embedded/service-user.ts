import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chown, mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { PenstockError } from '#libs/kernel';

const run = promisify(execFile);

const USER = 'postgres';
const FALLBACK_ROOT = '/var/lib/penstock';

/** The account that owns the data folder and runs the server. PostgreSQL refuses to run as root. */
export interface ServiceUser {
  uid: number;
  gid: number;
}

/** Undefined unless this process is root: then the server runs as whoever started Penstock. */
export async function serviceUser(): Promise<ServiceUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  return (await lookUp()) ?? (await create());
}

async function lookUp(): Promise<ServiceUser | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', USER]), run('id', ['-g', USER])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch (error) {
    // `id` exits with 1 for an unknown name.
    if ((error as { code?: unknown }).code === 1) return undefined;
    throw error;
  }
}

async function create(): Promise<ServiceUser> {
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', USER]);
  } catch (error) {
    throw noUser(error);
  }
  const user = await lookUp();
  if (!user) throw noUser(undefined);
  return user;
}

function noUser(cause: unknown): PenstockError {
  return new PenstockError('internal', {
    message:
      `The embedded PostgreSQL cannot run as root, and the account "${USER}" could not be created. ` +
      'Create it, start Penstock as another user, or set DATABASE_URL.',
    details: { reason: 'embedded_user_missing' },
    cause,
  });
}

/**
 * The folder for the database's files: `wanted`, unless the service user cannot walk down to it (below /root, say).
 * Then a folder under /var/lib/penstock that is always the same one for the same `wanted` and `identity`: what is made
 * anew in the wanted place must not find the data of what stood there before.
 */
export async function dataFolder(
  wanted: string,
  user: ServiceUser | undefined,
  log: (message: string) => void,
  identity = '',
): Promise<string> {
  let folder = resolve(wanted);
  if (user) {
    const closed = await firstClosedParent(folder, user);
    if (closed) {
      folder = join(FALLBACK_ROOT, createHash('sha256').update(`${folder}\n${identity}`).digest('hex').slice(0, 16));
      log(
        `The embedded PostgreSQL runs as "${USER}", because this process is root, and "${USER}" may not enter ${closed}. ` +
          `Its data is kept in ${folder} instead of ${resolve(wanted)}.`,
      );
    }
  }
  await mkdir(folder, { recursive: true, mode: 0o755 });
  if (user) await chown(folder, user.uid, user.gid);
  return folder;
}

export async function firstClosedParent(folder: string, user: ServiceUser): Promise<string | undefined> {
  const parents: string[] = [];
  for (let at = dirname(folder); ; at = dirname(at)) {
    parents.unshift(at);
    if (at === dirname(at)) break;
  }
  for (const parent of parents) {
    const entry = await stat(parent);
    const bit = entry.uid === user.uid ? 0o100 : entry.gid === user.gid ? 0o010 : 0o001;
    if ((entry.mode & bit) === 0) return parent;
  }
  return undefined;
}
