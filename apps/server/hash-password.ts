/**
 * Prints the hash of a first password for `DATAPIPELINES_AUTH_LOCAL_BOOTSTRAP_PASSWORD_HASH`, so that no password has to
 * stand in a configuration: from `DATAPIPELINES_SEED_PASSWORD`, else the first line of the standard input.
 */
import { createInterface } from 'node:readline';

const { hashSeedPassword } = await import('#libs/identity');
const { isPenstockError } = await import('#libs/kernel');

try {
  const given = process.env['DATAPIPELINES_SEED_PASSWORD'];
  console.log(await hashSeedPassword(given === undefined || given === '' ? await firstLine() : given));
} catch (error) {
  if (!isPenstockError(error)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function firstLine(): Promise<string> {
  if (process.stdin.isTTY) console.error('Type the first password and press Enter (it is shown):');
  const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
  for await (const line of lines) {
    lines.close();
    return line;
  }
  return '';
}
