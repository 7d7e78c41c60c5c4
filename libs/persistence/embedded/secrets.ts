import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';

export interface ClusterSecrets {
  /** Password of the set-up superuser. */
  superuser: string;
  /** Password of the plain role the server runs as. */
  role: string;
}

/** Reads the cluster's passwords, or makes them on the first start. Readable by the owner only. */
export async function clusterSecrets(file: string): Promise<ClusterSecrets> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as ClusterSecrets;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const secrets = { superuser: randomBytes(24).toString('base64url'), role: randomBytes(24).toString('base64url') };
  await writeFile(file, JSON.stringify(secrets), { mode: 0o600, flag: 'wx' });
  return secrets;
}
