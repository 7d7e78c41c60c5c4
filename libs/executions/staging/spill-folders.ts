import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

const INSTANCE = /^penstock~([^~]+)~(\d+)~[0-9a-f-]{36}$/;
/** The hourly job stamps its own folder; a folder of another host without a stamp for this long has lost its owner. */
const FOREIGN_STALE_MS = 3 * 3_600_000;

/**
 * Where engines spill: `{root}/{instance}/{execution}`. The instance's folder carries host and process id, so that a
 * later process can tell which folders have lost their owner.
 */
export class SpillFolders {
  readonly #instanceFolder: string;

  constructor(
    private readonly root: string,
    instanceId: string,
  ) {
    this.#instanceFolder = join(root, `penstock~${hostname()}~${process.pid}~${instanceId}`);
  }

  /** The folder of one execution. The engine creates it on its first spill; its parent exists. */
  async prepare(executionId: string): Promise<string> {
    await mkdir(this.#instanceFolder, { recursive: true, mode: 0o700 });
    return join(this.#instanceFolder, executionId);
  }

  async remove(folder: string): Promise<void> {
    await rm(folder, { recursive: true, force: true });
  }

  /** Stamps the own folder and removes what instances that are gone left behind; the number of folders removed. */
  async removeOrphans(now: Date): Promise<number> {
    let removed = 0;
    for (const name of await entriesOf(this.root)) {
      const [, host, pid] = INSTANCE.exec(name) ?? [];
      if (host === undefined || pid === undefined) continue;
      const folder = join(this.root, name);
      if (folder === this.#instanceFolder) {
        await utimes(folder, now, now);
      } else if (host === hostname() ? !isAlive(Number(pid)) : await isStale(folder, now)) {
        await this.remove(folder);
        removed++;
      }
    }
    return removed;
  }

  /** What engines of this process hold on disk now. A file that goes while it is looked at counts as nothing. */
  async bytes(): Promise<number> {
    let bytes = 0;
    for (const execution of await entriesOf(this.#instanceFolder)) {
      const folder = join(this.#instanceFolder, execution);
      for (const file of await entriesOf(folder)) bytes += await sizeOf(join(folder, file));
    }
    return bytes;
  }

  async removeOwn(): Promise<void> {
    await this.remove(this.#instanceFolder);
  }
}

async function entriesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/** Signal 0 asks for existence only; EPERM means that it exists and belongs to somebody else. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function isStale(folder: string, now: Date): Promise<boolean> {
  try {
    return now.getTime() - (await stat(folder)).mtimeMs > FOREIGN_STALE_MS;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
