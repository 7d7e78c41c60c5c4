import { Injectable } from '@nestjs/common';
import { isUuid, Logger, newId } from '#libs/kernel';
import type { Transaction } from '#libs/persistence';
import { isKeyId } from '../keys/key-format.js';
import { InvalidationBus } from './invalidation-bus.js';
import { LivenessCache, type LivenessKind } from './liveness-cache.js';

const VERSION = 1;
const SESSION_HASH = /^[0-9a-f]{64}$/;

const IDS: Readonly<Record<LivenessKind, (id: string) => boolean>> = {
  user: isUuid,
  session: (id) => SESSION_HASH.test(id),
  api_key: isKeyId,
  membership: isUuid,
  workspace: isUuid,
};

/**
 * Tells every instance that a row changed. Writes drop the local entry and publish `{v, origin, kind, id}`; a lost
 * message costs one TTL, never correctness (contract 04 §5).
 */
@Injectable()
export class Invalidations {
  readonly #origin = newId();

  constructor(
    private readonly cache: LivenessCache,
    private readonly bus: InvalidationBus,
    private readonly logger: Logger,
  ) {}

  /** Takes effect when the transaction has committed. */
  announce(tx: Transaction, kind: LivenessKind, id: string): void {
    tx.afterCommit(() => this.#tell(kind, id));
  }

  /** Listens to the other instances. Every (re)subscription clears the cache: messages may have been missed. */
  async start(): Promise<() => Promise<void>> {
    return this.bus.subscribe({
      onMessage: (message) => this.#hear(message),
      onSubscribed: () => this.cache.clear(),
    });
  }

  async #tell(kind: LivenessKind, id: string): Promise<void> {
    this.cache.drop(kind, id);
    try {
      await this.bus.publish(JSON.stringify({ v: VERSION, origin: this.#origin, kind, id }));
    } catch (error) {
      this.logger.warn('identity.invalidation_not_published', { kind, error });
    }
  }

  #hear(message: string): void {
    const heard = parse(message);
    if (heard && heard.origin !== this.#origin) this.cache.drop(heard.kind, heard.id);
  }
}

/** Undefined for messages of other families, other versions and anything malformed. */
function parse(message: string): { origin: string; kind: LivenessKind; id: string } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { v, origin, kind, id } = value as Record<string, unknown>;
  if (v !== VERSION || typeof origin !== 'string' || typeof kind !== 'string' || typeof id !== 'string')
    return undefined;
  return isKind(kind) && IDS[kind](id) ? { origin, kind, id } : undefined;
}

function isKind(kind: string): kind is LivenessKind {
  return Object.hasOwn(IDS, kind);
}
