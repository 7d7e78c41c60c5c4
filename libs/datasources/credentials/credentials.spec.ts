import { describe, expect, it } from '@jest/globals';
import { createCipheriv, randomBytes } from 'node:crypto';

import { checkCredential, CREDENTIAL_KINDS, type CredentialKind } from './credential-rules.js';
import { CredentialUndecryptable, open, seal } from './envelope.js';
import { KeyRing } from './key-ring.js';

const KEY_ONE = Buffer.alloc(32, 1).toString('base64');
const KEY_TWO = Buffer.alloc(32, 2).toString('base64');
const ring = new KeyRing(new Map([[1, KEY_ONE]]), 1);
const rotated = new KeyRing(
  new Map([
    [1, KEY_ONE],
    [2, KEY_TWO],
  ]),
  2,
);

describe('the credential envelope', () => {
  it('is version, nonce, ciphertext, tag: a fixed vector made with plain AES-256-GCM', () => {
    const nonce = Buffer.from('000102030405060708090a0b', 'hex');
    const cipher = createCipheriv('aes-256-gcm', Buffer.alloc(32, 1), nonce);
    cipher.setAAD(Buffer.from('pg-prod'));
    const expected = Buffer.concat([
      Buffer.from([1]),
      nonce,
      cipher.update('s3cret ü', 'utf8'),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
    expect(seal(ring, 'pg-prod', 's3cret ü', nonce)).toEqual(expected);
    expect(open(ring, 'pg-prod', expected)).toBe('s3cret ü');
  });

  it('never repeats: the same secret sealed twice differs', () => {
    expect(seal(ring, 'a', 'x').equals(seal(ring, 'a', 'x'))).toBe(false);
  });

  it('keeps any secret: empty, unicode, 64 KiB', () => {
    for (const secret of ['', '\u0000', '🐘', 'x'.repeat(65_536)])
      expect(open(ring, 'a', seal(ring, 'a', secret))).toBe(secret);
  });

  it('does not open under another datasource’s name: a blob copied to another row is worthless there', () => {
    expect(() => open(ring, 'pg-test', seal(ring, 'pg-prod', 'secret'))).toThrow(CredentialUndecryptable);
  });

  it('opens what an older key sealed, and seals with the current one', () => {
    const old = seal(ring, 'a', 'before');
    expect(open(rotated, 'a', old)).toBe('before');
    const fresh = seal(rotated, 'a', 'after');
    expect(fresh[0]).toBe(2);
    expect(() => open(ring, 'a', fresh)).toThrow(expect.objectContaining({ defect: 'unknown_version', keyVersion: 2 }));
  });

  it('refuses every other layout, and every flipped bit', () => {
    const blob = seal(ring, 'a', 'secret');
    const refused = (bytes: Buffer): unknown => {
      try {
        return open(ring, 'a', bytes);
      } catch (error) {
        return (error as CredentialUndecryptable).defect;
      }
    };
    expect(refused(Buffer.alloc(0))).toBe('too_short');
    expect(refused(blob.subarray(0, 28))).toBe('too_short');
    expect(refused(Buffer.concat([Buffer.from([0]), blob.subarray(1)]))).toBe('version_zero');
    expect(refused(Buffer.concat([Buffer.from([9]), blob.subarray(1)]))).toBe('unknown_version');
    for (let at = 1; at < blob.length; at += 1) {
      const bent = Buffer.from(blob);
      bent[at] = bent[at]! ^ 1;
      expect(refused(bent)).toBe('bad_tag');
    }
    for (let round = 0; round < 200; round += 1) {
      expect(['bad_tag', 'unknown_version', 'version_zero', 'too_short']).toContain(refused(randomBytes(round)));
    }
  });

  it('never says the secret or the key in a failure', () => {
    try {
      open(ring, 'other', seal(ring, 'a', 'planted-secret'));
    } catch (error) {
      expect(String(error) + JSON.stringify(error)).not.toMatch(/planted|AQEBAQ/);
    }
  });
});

describe('the key ring', () => {
  it('refuses keys that are not exactly 32 bytes of base64, naming the property and not the value', () => {
    for (const text of [
      '',
      'short',
      Buffer.alloc(31).toString('base64'),
      Buffer.alloc(33).toString('base64'),
      '!'.repeat(44),
    ]) {
      expect(() => new KeyRing(new Map([[1, text]]), 1)).toThrow(/datapipelines\.db\.encryption-key must be/);
      expect(
        () =>
          new KeyRing(
            new Map([
              [1, KEY_ONE],
              [7, text],
            ]),
            1,
          ),
      ).toThrow(/encryption-keys\.7/);
    }
    expect(() => new KeyRing(new Map([[1, KEY_ONE]]), 2)).toThrow(/version 2/);
  });
});

describe('credential rules', () => {
  const codes = (
    kind: CredentialKind,
    username: string | null,
    secret: string | undefined,
    stored?: CredentialKind,
  ): string[] =>
    checkCredential({ kind, username, secret }, CREDENTIAL_KINDS, stored).map(
      ({ code, path }) => `${code.split('.').at(-1)} ${path}`,
    );

  it('each kind takes exactly its own fields', () => {
    expect(codes('password', 'bob', 'x')).toEqual([]);
    expect(codes('password', null, 'x')).toEqual(['properties_invalid credential.username']);
    expect(codes('token', null, 'x')).toEqual([]);
    expect(codes('private_key', 'bob', 'x')).toEqual(['properties_invalid credential.username']);
    expect(codes('none', null, undefined)).toEqual([]);
    expect(codes('none', 'bob', 'x')).toEqual([
      'properties_invalid credential.username',
      'properties_invalid credential.secret',
    ]);
  });

  it('a missing or blank secret is password_missing, unless the stored one is of the same kind', () => {
    expect(codes('password', 'bob', undefined)).toEqual(['password_missing credential.secret']);
    expect(codes('password', 'bob', '   ')).toEqual(['password_missing credential.secret']);
    expect(codes('password', 'bob', undefined, 'password')).toEqual([]);
    expect(codes('password', 'bob', '', 'password')).toEqual(['password_missing credential.secret']);
    expect(codes('token', null, undefined, 'password')).toEqual(['password_missing credential.secret']);
    expect(codes('password', 'bob', undefined, 'none')).toEqual(['password_missing credential.secret']);
  });

  it('a dialect takes only its kinds, and a secret has a size', () => {
    expect(
      checkCredential({ kind: 'none', username: null, secret: undefined }, ['password', 'token'], undefined),
    ).toHaveLength(1);
    expect(codes('password', 'bob', 'x'.repeat(65_537))).toEqual(['properties_invalid credential.secret']);
  });
});
