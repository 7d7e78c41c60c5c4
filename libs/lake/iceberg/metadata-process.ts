import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { TableProblem } from '../tables/table-scan.js';
import type { EntryRow, ManifestRow, MetadataAnswer, MetadataQuestion, TableDocument } from './metadata-protocol.js';

const MAX_HEAP_MB = 256;
const TIMEOUT_MS = 20_000;
/** The child beside this file: compiled when this is, else the source, which Node runs as it stands. */
const CHILD = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './metadata-child.ts' : './metadata-child.js', import.meta.url),
);

/** One process that reads the metadata of one table, within bounded time and memory. Close it when the table is read. */
export class MetadataProcess {
  readonly #child: ChildProcess;
  readonly #gone = Promise.withResolvers<never>();

  constructor(heapMb: number = MAX_HEAP_MB) {
    // No environment of the server's reaches the child: it holds secrets.
    this.#child = fork(CHILD, [], {
      serialization: 'advanced',
      execArgv: ['--no-warnings', `--max-old-space-size=${heapMb}`],
      env: { TZ: 'UTC' },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#gone.promise.catch(() => undefined);
    this.#child.once('error', (cause) =>
      this.#gone.reject(new TableProblem('The metadata of the table cannot be read: no process for it.', { cause })),
    );
    this.#child.once('exit', (_code, signal) =>
      this.#gone.reject(
        new TableProblem(
          signal === 'SIGABRT'
            ? 'The metadata of the table takes more memory to read than it may.'
            : 'The metadata of the table cannot be read.',
        ),
      ),
    );
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async table(bytes: Uint8Array, signal: AbortSignal): Promise<TableDocument> {
    return (await this.#asked({ about: 'table', bytes }, signal)) as TableDocument;
  }

  async manifestList(bytes: Uint8Array, maxRows: number, signal: AbortSignal): Promise<ManifestRow[]> {
    return (await this.#asked({ about: 'list', bytes, maxRows }, signal)) as ManifestRow[];
  }

  async manifest(bytes: Uint8Array, maxRows: number, signal: AbortSignal): Promise<EntryRow[]> {
    return (await this.#asked({ about: 'manifest', bytes, maxRows }, signal)) as EntryRow[];
  }

  close(): void {
    this.#child.kill('SIGKILL');
  }

  /** @throws TableProblem */
  async #asked(question: MetadataQuestion, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const ends = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const late = Promise.withResolvers<never>();
    const giveUp = (): void => late.reject(new TableProblem('The metadata of the table takes too long to read.'));
    ends.addEventListener('abort', giveUp, { once: true });
    const come = Promise.withResolvers<MetadataAnswer>();
    this.#child.once('message', come.resolve);
    // That it cannot be sent shows as the end of the process.
    this.#child.send(question, () => undefined);
    try {
      const answer = await Promise.race([come.promise, this.#gone.promise, late.promise]);
      if ('refused' in answer) throw new TableProblem(answer.refused);
      return answer.found;
    } finally {
      ends.removeEventListener('abort', giveUp);
      this.#child.off('message', come.resolve);
    }
  }
}
