import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readJson, writeJson, type Configuration, type Logger } from '#libs/kernel';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#libs/persistence';

/** What one embedded process brings itself: a database and secrets, all below one folder. */
export interface EmbeddedStores {
  configuration: Configuration;
  postgres: EmbeddedPostgres;
  directory: string;
}

interface Secrets {
  jwt: string;
  encryption: string;
}

/** Address of the first administrator where no configuration names one. */
const ADMIN_EMAIL = 'admin@penstock.local';

export async function startEmbedded(
  configuration: Configuration,
  directory: string,
  log: Logger,
): Promise<EmbeddedStores> {
  // Others may pass through but not look: as root, PostgreSQL runs as a user of its own and must reach its data.
  await mkdir(directory, { recursive: true, mode: 0o711 });
  const postgres = await startEmbeddedPostgres({ directory, log: (message) => log.info(message) });
  const secrets = await keptSecrets(join(directory, 'secrets.json'));
  return {
    postgres,
    directory,
    configuration: configuration.withGenerated({
      'datapipelines.metadata-db.url': postgres.url,
      'datapipelines.jwt.secret': secrets.jwt,
      'datapipelines.db.encryption-key': secrets.encryption,
      'datapipelines.auth.bootstrap-admin-email': ADMIN_EMAIL,
    }),
  };
}

/** The one-time password stands in a file of this user alone until the person has signed in with it once. */
export async function keepOneTimePassword(directory: string, email: string, password: string): Promise<string> {
  const file = join(directory, 'admin-password');
  await writeAtomically(file, writeJson({ email, password }));
  return file;
}

async function keptSecrets(file: string): Promise<Secrets> {
  if (!existsSync(file)) {
    const secrets: Secrets = {
      jwt: randomBytes(48).toString('base64'),
      encryption: randomBytes(32).toString('base64'),
    };
    await writeAtomically(file, writeJson({ ...secrets }));
  }
  return readJson(readFileSync(file, 'utf8')) as unknown as Secrets;
}

async function writeAtomically(file: string, text: string): Promise<void> {
  const unfinished = `${file}.${process.pid}`;
  await rm(unfinished, { force: true });
  await writeFile(unfinished, text, { mode: 0o600, flag: 'wx' });
  await rename(unfinished, file);
}
