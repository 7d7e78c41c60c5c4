import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { PenstockError } from '#libs/kernel';

export interface ClusterSecrets {
  /** Password of the set-up superuser. */
  superuser: string;
  /** Password of the plain role the server runs as. */
  role: string;
}

const PASSWORD = /^[\w-]{16,}$/;

/** Reads the cluster's passwords, or makes them on the first start. Readable by the owner only. */
export async function clusterSecrets(file: string): Promise<ClusterSecrets> {
  try {
    return parse(await readFile(file, 'utf8'), file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const secrets = { superuser: randomBytes(24).toString('base64url'), role: randomBytes(24).toString('base64url') };
  // Renamed into place, so that a kill leaves the whole file or none.
  const unfinished = `${file}.unfinished`;
  await rm(unfinished, { force: true });
  await writeFile(unfinished, `superuser=${secrets.superuser}\nrole=${secrets.role}\n`, { mode: 0o600, flag: 'wx' });
  await rename(unfinished, file);
  return secrets;
}

function parse(text: string, file: string): ClusterSecrets {
  const entries = new Map(text.split('\n').map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]));
  const [superuser = '', role = ''] = [entries.get('superuser'), entries.get('role')];
  if (PASSWORD.test(superuser) && PASSWORD.test(role)) return { superuser, role };
  throw new PenstockError('internal', {
    message: `${file} does not hold the passwords of the embedded PostgreSQL. Restore it from a backup.`,
    details: { reason: 'embedded_secrets', file },
  });
}
