import { readFileSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import {
  Configuration,
  isJsonObject,
  Logger,
  PenstockError,
  readJson,
  type JsonValue,
  type Principal,
} from '#libs/kernel';
import { sha256Of } from './document-hash.js';

const KEY = 'datapipelines.graphql.trusted-documents-file';
/** Documents that were warned of; a client that keeps sending one is told of once. */
const WARNED = 1000;

/**
 * The documents of the console's build, `{<hash>: <document>}` in the file of `graphql.trusted-documents-file` (03 §12).
 * Where they are required nothing else runs; where they are logged, whatever else runs is warned of. Each is known by
 * the SHA-256 of its own text, whatever the file calls it.
 *
 * @throws PenstockError `internal` at boot, when there should be a file and it cannot be used
 */
@Injectable()
export class TrustedDocuments {
  readonly #mode: 'off' | 'log' | 'require';
  readonly #documents: ReadonlyMap<string, string>;
  readonly #warned = new LRUCache<string, true>({ max: WARNED });

  constructor(
    configuration: Configuration,
    private readonly log: Logger,
  ) {
    this.#mode = configuration.get('datapipelines.graphql.trusted-documents');
    const file = configuration.get(KEY);
    this.#documents = this.#mode === 'off' || file === undefined ? new Map() : read(file);
  }

  /** The document of this hash. */
  document(sha256: string): string | undefined {
    return this.#documents.get(sha256);
  }

  /** @throws `graphql.operation_not_allowed` where only trusted documents run and this is none */
  admit(sha256: string | undefined, query: string | undefined, { correlationId }: Principal): void {
    if (this.#mode === 'off') return;
    const hash = query === undefined ? sha256 : sha256Of(query);
    if (hash !== undefined && this.#documents.has(hash)) return;
    if (this.#mode === 'require') {
      throw new PenstockError('graphql.operation_not_allowed', {
        message: 'This server runs only the documents it was deployed with: use the console, or REST.',
      });
    }
    if (hash === undefined || this.#warned.has(hash)) return;
    this.#warned.set(hash, true);
    const fields = { correlation_id: correlationId, document_sha256: hash };
    this.log.warn('A document ran that is none of the trusted ones.', fields);
  }
}

function read(file: string): Map<string, string> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw unusable(file, 'cannot be read', cause);
  }
  let manifest: JsonValue;
  try {
    manifest = readJson(text);
  } catch (cause) {
    throw unusable(file, 'is no JSON', cause);
  }
  const documents = isJsonObject(manifest) ? Object.values(manifest) : [];
  if (documents.length === 0 || !documents.every((document) => typeof document === 'string')) {
    throw unusable(file, 'must be an object of documents by their hashes');
  }
  return new Map(documents.map((document) => [sha256Of(document), document]));
}

function unusable(file: string, problem: string, cause?: unknown): PenstockError {
  const message = `${KEY}: ${file} ${problem}. It is written by the build of the console.`;
  return new PenstockError('internal', { message, cause });
}
