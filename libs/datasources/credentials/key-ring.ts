import type { Configuration } from '#libs/kernel';

/** A key that seals credentials, by the version that stands in front of what it sealed. */
export interface SealingKey {
  version: number;
  bytes: Buffer;
}

/** Where sealing keys come from. `current` is fixed for the life of the process (06 §3). */
export abstract class KeyProvider {
  abstract readonly name: string;
  abstract current(): SealingKey;
  abstract byVersion(version: number): SealingKey | undefined;
}

const KEY_BYTES = 32;

/** Keys from the configuration: `encryption-key` is version 1, `encryption-keys.{2..255}` are the later ones. */
export class KeyRing extends KeyProvider {
  readonly name = 'env';
  readonly #keys: ReadonlyMap<number, SealingKey>;
  readonly #current: SealingKey;

  /** Base64 texts by version. @throws TypeError naming the version, never the value */
  constructor(texts: ReadonlyMap<number, string>, current: number) {
    super();
    this.#keys = new Map([...texts].map(([version, text]) => [version, { version, bytes: keyBytes(version, text) }]));
    const key = this.#keys.get(current);
    if (!key) throw new TypeError(`datapipelines.db.encryption-key-current names version ${current}, which has no key`);
    this.#current = key;
  }

  static fromConfiguration(config: Configuration): KeyRing {
    const texts = new Map<number, string>();
    const first = config.get('datapipelines.db.encryption-key');
    if (first !== undefined) texts.set(1, first);
    for (const [version, text] of config.get('datapipelines.db.encryption-keys') ?? []) texts.set(version, text);
    return new KeyRing(texts, config.get('datapipelines.db.encryption-key-current'));
  }

  current(): SealingKey {
    return this.#current;
  }

  byVersion(version: number): SealingKey | undefined {
    return this.#keys.get(version);
  }
}

function keyBytes(version: number, text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== KEY_BYTES || bytes.toString('base64') !== text.trim()) {
    const property = version === 1 ? 'datapipelines.db.encryption-key' : `datapipelines.db.encryption-keys.${version}`;
    throw new TypeError(`${property} must be the base64 of exactly 32 bytes`);
  }
  return bytes;
}
