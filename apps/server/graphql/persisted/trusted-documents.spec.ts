import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfiguration, SilentLogger, type LogFields, type Principal } from '#libs/kernel';
import { MemoryTransientStore, TransientUnavailable } from '#libs/transient';
import { sha256Of } from './document-hash.js';
import { PersistedOperations } from './persisted-operations.js';
import { TrustedDocuments } from './trusted-documents.js';

const VIEWER = '{ viewer { scopes } }';
const CALLER = { correlationId: 'c-1' } as Principal;

class ListeningLogger extends SilentLogger {
  readonly warned: [string, LogFields | undefined][] = [];

  override warn(message = '', fields?: LogFields): void {
    this.warned.push([message, fields]);
  }
}

const files = mkdtempSync(join(tmpdir(), 'penstock-manifest-'));
afterAll(() => rmSync(files, { recursive: true, force: true }));

function configured(mode: string, file: string | undefined, more: Record<string, string> = {}) {
  return loadConfiguration({
    DATAPIPELINES_GRAPHQL_TRUSTED_DOCUMENTS: mode,
    DATAPIPELINES_GRAPHQL_TRUSTED_DOCUMENTS_FILE: file,
    ...more,
  });
}

function manifestOf(text: string): string {
  const file = join(files, 'documents.json');
  writeFileSync(file, text);
  return file;
}

describe('trusted documents', () => {
  it('are warned of once each where they are logged, by hash and never by text, and let through', () => {
    const log = new ListeningLogger();
    const trusted = new TrustedDocuments(configured('log', manifestOf(JSON.stringify({ a: VIEWER }))), log);
    for (const query of [VIEWER, '{ sessions { id } }', '{ sessions { id } }']) trusted.admit(undefined, query, CALLER);
    trusted.admit(sha256Of('{ sessions { id } }'), undefined, CALLER);
    expect(log.warned).toEqual([
      [
        'A document ran that is none of the trusted ones.',
        { correlation_id: 'c-1', document_sha256: sha256Of('{ sessions { id } }') },
      ],
    ]);
  });

  it('are not looked for where nothing asks for them: the file may be written later', () => {
    const trusted = new TrustedDocuments(configured('off', join(files, 'absent.json')), new SilentLogger());
    expect(() => trusted.admit(undefined, VIEWER, CALLER)).not.toThrow();
  });

  it.each<[string, string | undefined]>([
    ['cannot be read', undefined],
    ['is no JSON', '{"a":'],
    ['must be an object', '[]'],
    ['must be an object', '{}'],
    ['must be an object', '"x"'],
    ['must be an object', '{"a":1}'],
  ])('keep a server from starting whose file %s (%s), and name key and file', (problem, text) => {
    const file = text === undefined ? join(files, 'absent.json') : manifestOf(text);
    const starting = () => new TrustedDocuments(configured('require', file), new SilentLogger());
    expect(starting).toThrow(`datapipelines.graphql.trusted-documents-file: ${file} ${problem}`);
  });
});

describe('persisted operations', () => {
  function operations(more: Record<string, string> = {}) {
    const store = new MemoryTransientStore({ maxBytes: 1_000_000 });
    const log = new ListeningLogger();
    const configuration = configured('off', undefined, more);
    return {
      store,
      log,
      kept: new PersistedOperations(store, new TrustedDocuments(configuration, log), configuration, log),
    };
  }

  const sha256 = sha256Of(VIEWER);

  it('come from the store on the instance that has not seen them', async () => {
    const { store, kept } = operations();
    await store.keepDocument(sha256, VIEWER, 60);
    expect(await kept.resolve({ sha256 }, CALLER)).toEqual({ query: VIEWER });
  });

  it('are kept for a day from when they were sent whole', async () => {
    const { store, kept } = operations();
    const keeping = jest.spyOn(store, 'keepDocument');
    await kept.keep({ query: VIEWER, sha256 });
    expect(keeping.mock.calls).toEqual([[sha256, VIEWER, 86_400]]);
  });

  it('may be off: then a hash alone is not supported and nothing is kept', async () => {
    const { store, kept } = operations({ DATAPIPELINES_GRAPHQL_APQ_ENABLED: 'false' });
    await kept.keep({ query: VIEWER, sha256 });
    expect(await store.keptDocument(sha256)).toBeUndefined();
    const verdict = await kept.resolve({ sha256 }, CALLER);
    expect('refused' in verdict && verdict.refused[0]?.extensions['code']).toBe('PERSISTED_QUERY_NOT_SUPPORTED');
    expect(await kept.resolve({ query: VIEWER, sha256 }, CALLER)).toEqual({ query: VIEWER });
  });

  it('run whole while the store is away, and by hash are refused as everything that needs it', async () => {
    const { store, kept, log } = operations();
    store.keepDocument = () => Promise.reject(new TransientUnavailable());
    store.keptDocument = () => Promise.reject(new TransientUnavailable());
    await kept.keep({ query: VIEWER, sha256 });
    expect(log.warned.map(([message]) => message)).toEqual(['A persisted operation was not kept.']);
    await expect(kept.resolve({ sha256 }, CALLER)).rejects.toMatchObject({
      code: 'rate_limit.unavailable',
      status: 429,
    });
  });
});
