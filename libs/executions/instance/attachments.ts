import type { Logger } from '#libs/kernel';
import type { TransientStore } from '#libs/transient';
import type { HostedRun } from '../host/hosted-run.js';

export interface AttachmentSettings {
  /** `datapipelines.sse.disconnect-grace-seconds`. */
  graceMs: number;
  /** `datapipelines.sse.heartbeat-interval-seconds`: how often instances tell each other of their watchers. */
  heartbeatMs: number;
}

interface Attachment {
  readonly run: HostedRun;
  watchers: number;
  timer?: NodeJS.Timeout;
}

/**
 * The disconnect clock of attached runs (contract 02 §9.1): a run whose last stream by its own user has been gone for
 * the grace is cancelled `client_disconnect`; a stream on any instance saves it. Streams of other instances show in the
 * store, which they touch while they last.
 */
export class Attachments {
  readonly #attached = new Map<string, Attachment>();
  /** Streams here of runs owned elsewhere, by execution. */
  readonly #elsewhere = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: TransientStore,
    private readonly settings: AttachmentSettings,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.#timer = setInterval(() => void this.#touchAll(), this.settings.heartbeatMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const { timer } of this.#attached.values()) clearTimeout(timer);
  }

  /** The clock starts at once: the launching client has the grace to open its stream. */
  attach(run: HostedRun): void {
    const attachment: Attachment = { run, watchers: 0 };
    this.#attached.set(run.executionId, attachment);
    this.#startClock(attachment);
  }

  ended(run: HostedRun): void {
    clearTimeout(this.#attached.get(run.executionId)?.timer);
    this.#attached.delete(run.executionId);
  }

  /** A stream of the run's own user opened here. Returns what is to be called when it closes. */
  watching(executionId: string, ownedHere: boolean): () => void {
    const attachment = this.#attached.get(executionId);
    if (attachment) return this.#local(attachment);
    return ownedHere ? () => undefined : this.#remote(executionId);
  }

  #local(attachment: Attachment): () => void {
    attachment.watchers++;
    clearTimeout(attachment.timer);
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      if (--attachment.watchers === 0) this.#startClock(attachment);
    };
  }

  #remote(executionId: string): () => void {
    this.#elsewhere.set(executionId, (this.#elsewhere.get(executionId) ?? 0) + 1);
    void this.#touch(executionId);
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      const left = this.#elsewhere.get(executionId)! - 1;
      if (left > 0) this.#elsewhere.set(executionId, left);
      else this.#elsewhere.delete(executionId);
    };
  }

  #startClock(attachment: Attachment): void {
    if (!this.#attached.has(attachment.run.executionId)) return;
    clearTimeout(attachment.timer);
    attachment.timer = setTimeout(() => void this.#expire(attachment), this.settings.graceMs).unref();
  }

  /** A store that cannot tell leaves the run alone; its deadline still ends it. */
  async #expire(attachment: Attachment): Promise<void> {
    const { run } = attachment;
    let watched = true;
    try {
      watched = await this.store.hasWatcher(run.executionId);
    } catch (error) {
      this.logger.warn('Watchers elsewhere could not be looked for.', { execution_id: run.executionId, error });
    }
    if (attachment.watchers > 0 || !this.#attached.has(run.executionId)) return;
    if (watched) this.#startClock(attachment);
    else run.cancel('client_disconnect');
  }

  async #touchAll(): Promise<void> {
    await Promise.all([...this.#elsewhere.keys()].map((executionId) => this.#touch(executionId)));
  }

  async #touch(executionId: string): Promise<void> {
    try {
      await this.store.touchWatcher(executionId, Math.ceil((2 * this.settings.heartbeatMs) / 1000));
    } catch (error) {
      this.logger.warn('A watcher could not be announced.', { execution_id: executionId, error });
    }
  }
}
