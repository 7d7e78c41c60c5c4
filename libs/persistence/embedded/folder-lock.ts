import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PenstockError } from '#libs/kernel';

const SQLITE_BUSY = 5;

export interface FolderLock {
  release(): void;
}

/**
 * One process per folder. The lock is the operating system's, on a SQLite file, so it ends with the process however the
 * process ends; `owner` only serves the message.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const owner = join(folder, 'owner');
  const database = await openLock(folder);
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: unknown }).errcode !== SQLITE_BUSY) throw unusable(folder, error);
    const pid = await readOwner(owner);
    throw new PenstockError('internal', {
      message:
        `The folder ${folder} is in use by another Penstock process${pid ? ` (pid ${pid})` : ''}. ` +
        'Stop that process, or start this one on another folder or with DATABASE_URL.',
      details: { reason: 'folder_in_use', folder, ...(pid ? { pid: Number(pid) } : {}) },
    });
  }
  await writeFile(owner, String(process.pid));
  return { release: () => database.close() };
}

async function openLock(folder: string): Promise<DatabaseSync> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o755 });
    return new DatabaseSync(join(folder, 'lock.db'));
  } catch (error) {
    throw unusable(folder, error);
  }
}

function unusable(folder: string, cause: unknown): PenstockError {
  return new PenstockError('internal', {
    message: `The folder ${folder} cannot be written. Start Penstock where it may write, or set DATABASE_URL.`,
    details: { reason: 'folder_unusable', folder },
    cause,
  });
}

async function readOwner(file: string): Promise<string | undefined> {
  try {
    const text = (await readFile(file, 'utf8')).trim();
    return /^\d+$/.test(text) ? text : undefined;
  } catch (error) {
    // The other process has the lock but has not written its name yet.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
