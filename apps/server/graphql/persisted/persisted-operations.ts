import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Configuration, Logger, PenstockError, type Principal } from '#libs/kernel';
import { TransientStore, unavailableAs } from '#libs/transient';
import { protocolError } from '../errors/protocol-error.js';
import type { AskedOperation } from '../graphql-request.js';
import type { OperationRequest, RefusedOperation } from '../limits/operation-gate.js';
import { sha256Of } from './document-hash.js';
import { TrustedDocuments } from './trusted-documents.js';

/** How long a document is kept since it was last sent whole (03 §12). */
const KEPT_SECONDS = 24 * 60 * 60;
const CACHED_DOCUMENTS = 500;
const CACHED_CHARS = 500_000;

/**
 * Automatic persisted queries: a client sends the hash of a document alone, and the document with it only when the
 * server says that it does not know it. Whatever is kept was admitted once, and is judged again each time it runs.
 */
@Injectable()
export class PersistedOperations {
  readonly #enabled: boolean;
  /** What this instance has seen; spares the store a call per operation. */
  readonly #known = new LRUCache<string, string>({ max: CACHED_DOCUMENTS, maxSize: CACHED_CHARS });

  constructor(
    private readonly store: TransientStore,
    private readonly trusted: TrustedDocuments,
    configuration: Configuration,
    private readonly log: Logger,
  ) {
    this.#enabled = configuration.get('datapipelines.graphql.apq-enabled');
  }

  /**
   * The document that is asked for.
   *
   * @throws `graphql.operation_not_allowed` for what is not trusted where only trusted documents run
   */
  async resolve(asked: AskedOperation, principal: Principal): Promise<OperationRequest | RefusedOperation> {
    const { query, sha256, ...rest } = asked;
    this.trusted.admit(sha256, query, principal);
    if (query !== undefined) {
      if (sha256 !== undefined && this.#enabled && sha256Of(query) !== sha256) throw otherHash();
      return { query, ...rest };
    }
    const document = await this.#document(sha256 ?? '');
    return typeof document === 'string' ? { query: document, ...rest } : document;
  }

  /** Keeps a document that was admitted and came with its hash. A store that is away costs the client a longer body. */
  async keep({ query, sha256 }: AskedOperation): Promise<void> {
    if (!this.#enabled || query === undefined || sha256 === undefined || this.#known.has(sha256)) return;
    try {
      await this.store.keepDocument(sha256, query, KEPT_SECONDS);
      this.#remember(sha256, query);
    } catch (error) {
      this.log.warn('A persisted operation was not kept.', { document_sha256: sha256, error });
    }
  }

  async #document(sha256: string): Promise<string | RefusedOperation> {
    const near = this.trusted.document(sha256) ?? this.#known.get(sha256);
    if (near !== undefined) return near;
    if (!this.#enabled) return refused('PersistedQueryNotSupported', 'PERSISTED_QUERY_NOT_SUPPORTED');
    const found = await unavailableAs('rate_limit.unavailable', () => this.store.keptDocument(sha256));
    if (found === undefined) return refused('PersistedQueryNotFound', 'PERSISTED_QUERY_NOT_FOUND');
    this.#remember(sha256, found);
    return found;
  }

  #remember(sha256: string, document: string): void {
    this.#known.set(sha256, document, { size: document.length });
  }
}

/** The messages are what clients of the protocol look for. */
function refused(
  message: 'PersistedQueryNotFound' | 'PersistedQueryNotSupported',
  code: 'PERSISTED_QUERY_NOT_FOUND' | 'PERSISTED_QUERY_NOT_SUPPORTED',
): RefusedOperation {
  return { refused: [protocolError(message, code)] };
}

function otherHash(): PenstockError {
  return new PenstockError('pipeline.execution.invalid_parameter_type', {
    message: 'The hash is not the SHA-256 of the document that came with it.',
    details: { field: 'extensions.persistedQuery.sha256Hash', reason: 'field' },
  });
}
