import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

import type { KeyProvider } from './key-ring.js';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES;
const SHORTEST = HEADER_BYTES + TAG_BYTES;

/** Why a blob does not open. The log may say it; callers are told only that the credential cannot be decrypted. */
export type SealDefect = 'too_short' | 'version_zero' | 'unknown_version' | 'bad_tag';

export class CredentialUndecryptable extends Error {
  override readonly name = 'CredentialUndecryptable';

  constructor(
    readonly defect: SealDefect,
    readonly keyVersion: number | undefined,
  ) {
    super('The credential cannot be decrypted.');
  }
}

/**
 * `version(1) ‖ nonce(12) ‖ ciphertext ‖ tag(16)`, AES-256-GCM, with the datasource's name as additional data: a blob
 * copied to another row does not open there (06 §3).
 */
export function seal(
  keys: KeyProvider,
  datasource: string,
  secret: string,
  nonce: Buffer = randomBytes(NONCE_BYTES),
): Buffer {
  const key = keys.current();
  const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(datasource, 'utf8'));
  const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.from([key.version]), nonce, ciphertext, cipher.getAuthTag()]);
}

/** Why a blob does not open; undefined for one that does. Its secret goes nowhere. */
export function defectOf(keys: KeyProvider, datasource: string, blob: Buffer): SealDefect | undefined {
  try {
    open(keys, datasource, blob);
    return undefined;
  } catch (error) {
    if (!(error instanceof CredentialUndecryptable)) throw error;
    return error.defect;
  }
}

/** @throws CredentialUndecryptable — no other layout is ever guessed */
export function open(keys: KeyProvider, datasource: string, blob: Buffer): string {
  const version = blob[0];
  if (blob.length < SHORTEST) throw new CredentialUndecryptable('too_short', version);
  if (version === undefined || version === 0) throw new CredentialUndecryptable('version_zero', version);
  const key = keys.byVersion(version);
  if (!key) throw new CredentialUndecryptable('unknown_version', version);
  const decipher = createDecipheriv('aes-256-gcm', key.bytes, blob.subarray(1, HEADER_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(datasource, 'utf8'));
  decipher.setAuthTag(blob.subarray(blob.length - TAG_BYTES));
  try {
    const secret = Buffer.concat([
      decipher.update(blob.subarray(HEADER_BYTES, blob.length - TAG_BYTES)),
      decipher.final(),
    ]);
    return secret.toString('utf8');
  } catch {
    throw new CredentialUndecryptable('bad_tag', version);
  }
}
