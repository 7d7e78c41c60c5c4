import type { Failure } from '#libs/kernel';

export const CREDENTIAL_KINDS = ['password', 'token', 'private_key', 'service_account_json', 'none'] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

/** What a body asks for: `secret` undefined = none given. */
export interface RequestedCredential {
  kind: CredentialKind;
  username: string | null;
  secret: string | undefined;
}

const USERNAME: Readonly<Record<CredentialKind, 'required' | 'optional' | 'absent'>> = {
  password: 'required',
  token: 'optional',
  private_key: 'absent',
  service_account_json: 'absent',
  none: 'absent',
};

const MAX_SECRET_BYTES = 64 * 1024;
const MAX_USERNAME = 256;

/**
 * Defects of a credential for a dialect (06 §3). `storedKind` is the kind of the row being changed: its secret stays
 * only when the kind does.
 */
export function checkCredential(
  requested: RequestedCredential,
  supported: readonly CredentialKind[],
  storedKind: CredentialKind | undefined,
): Failure[] {
  const failures: Failure[] = [];
  const invalid = (path: string, message: string, details: Record<string, unknown> = {}): void =>
    void failures.push({ code: 'datasource.validation.properties_invalid', path, message, details });
  const { kind, username, secret } = requested;
  if (!supported.includes(kind)) {
    invalid('credential.kind', `This dialect takes no credential of kind ${kind}.`, { supported });
  }
  if (USERNAME[kind] === 'required' && (username ?? '').trim() === '')
    invalid('credential.username', `A ${kind} needs a username.`);
  if (USERNAME[kind] === 'absent' && username !== null)
    invalid('credential.username', `A credential of kind ${kind} has no username.`);
  if (username !== null && (username.length > MAX_USERNAME || /[\u0000-\u001f\u007f]/.test(username))) {
    invalid('credential.username', `A username has at most ${MAX_USERNAME} printable characters.`);
  }
  if (secret !== undefined && Buffer.byteLength(secret) > MAX_SECRET_BYTES) {
    invalid('credential.secret', 'A secret has at most 64 KiB.');
  }
  if (kind === 'none') {
    if (secret !== undefined) invalid('credential.secret', 'A credential of kind none has no secret.');
    return failures;
  }
  const blank = secret === undefined ? storedKind !== kind : secret.trim() === '';
  if (blank) {
    failures.push({
      code: 'datasource.validation.password_missing',
      path: 'credential.secret',
      message: `A ${kind} needs its secret.`,
      details: {},
    });
  }
  return failures;
}
