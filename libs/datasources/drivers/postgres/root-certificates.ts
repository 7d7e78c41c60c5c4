import { readFile } from 'node:fs/promises';

import { DriverFailure } from '../driver-failure.js';

/** PEM text of a file of trusted roots. Rejects with DriverFailure. */
export async function readRoots(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new DriverFailure('connection', 'The file of sslrootcert cannot be read.', {
      driverCode: 'SSLROOTCERT',
      cause: error,
    });
  }
}
