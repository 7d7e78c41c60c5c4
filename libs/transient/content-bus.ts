import type { Logger } from '#libs/kernel';
import { CHANNELS, type TransientStore } from './transient-store.js';
import { VersionedChannel, type Heard } from './versioned-channel.js';

/** Content that was written: a pipeline by its id, a template by its name. */
export interface ContentNotice {
  kind: 'pipeline' | 'template';
  workspaceId: string;
  id: string;
}

/** The part of a transaction that a notice waits for. */
interface Committing {
  afterCommit(work: () => void | Promise<void>): void;
}

/**
 * Tells editors on every instance that somebody wrote what they have open: `{v, kind, workspace, id}` on
 * `dp:bus:content` (03 §12). A notice says that there is something to look at, never what: whoever hears it reads the
 * rows with his own rights. One that is lost costs a watcher the time to its next look, and never an act.
 */
export class ContentBus {
  readonly #handlers = new Map<string, Set<() => void>>();
  readonly #channel: VersionedChannel;
  #listening: Promise<unknown> | undefined;

  constructor(store: TransientStore, log: Logger) {
    this.#channel = new VersionedChannel(store, log, CHANNELS.content, 'A change of content was not announced.');
  }

  /** Published when the transaction has committed, on this instance too; not at all when it rolls back. */
  announce(tx: Committing, notice: ContentNotice): void {
    tx.afterCommit(() => this.#publish(notice));
  }

  /** Resolves when notices arrive; returns the unsubscribe. A reconnect counts as a notice: some may have been missed. */
  async subscribe(notice: ContentNotice, onNotice: () => void): Promise<() => void> {
    const key = keyOf(notice);
    const handlers = this.#handlers.get(key) ?? new Set();
    this.#handlers.set(key, handlers.add(onNotice));
    const unsubscribe = () => {
      handlers.delete(onNotice);
      if (handlers.size === 0 && this.#handlers.get(key) === handlers) this.#handlers.delete(key);
    };
    try {
      await this.#listen();
    } catch (error) {
      unsubscribe();
      throw error;
    }
    return unsubscribe;
  }

  async #listen(): Promise<void> {
    let first = true;
    this.#listening ??= this.#channel.subscribe(
      (heard) => this.#hear(heard),
      () => {
        if (!first) this.#wake([...this.#handlers.values()]);
        first = false;
      },
    );
    try {
      await this.#listening;
    } catch (error) {
      this.#listening = undefined;
      throw error;
    }
  }

  #publish({ kind, workspaceId, id }: ContentNotice): Promise<void> {
    return this.#channel.publish({ kind, workspace: workspaceId, id }, { kind, id });
  }

  #hear(heard: Heard): void {
    const notice = noticeOf(heard);
    const handlers = notice && this.#handlers.get(keyOf(notice));
    if (handlers) this.#wake([handlers]);
  }

  #wake(groups: readonly ReadonlySet<() => void>[]): void {
    for (const handlers of groups) for (const handler of [...handlers]) handler();
  }
}

function keyOf({ kind, workspaceId, id }: ContentNotice): string {
  return `${workspaceId} ${kind} ${id}`;
}

function noticeOf({ kind, workspace, id }: Heard): ContentNotice | undefined {
  if (kind !== 'pipeline' && kind !== 'template') return undefined;
  if (typeof workspace !== 'string' || typeof id !== 'string') return undefined;
  return { kind, workspaceId: workspace, id };
}
