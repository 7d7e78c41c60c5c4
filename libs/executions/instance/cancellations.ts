import type { Logger } from '#libs/kernel';
import { CHANNELS, type TransientStore } from '#libs/transient';
import type { AbortReason } from '../run/outcome.js';
import type { RunRegistry } from './run-registry.js';

const REASONS: ReadonlySet<string> = new Set<AbortReason>(['client_disconnect', 'cancelled', 'shutdown']);
/** Node boundaries of many runs share one look. */
const GATHER_MS = 100;

/**
 * Hears of cancellations asked on other instances: by the nudge, which may be lost, and by a poll of all runs here in one
 * call (contract 02 §9.1).
 */
export class Cancellations {
  #unsubscribe: (() => Promise<void>) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  /** Asked for since the look under way began: a flag that was set meanwhile may not be in its answer. */
  #again = false;

  constructor(
    private readonly store: TransientStore,
    private readonly runs: RunRegistry,
    private readonly pollMs: number,
    private readonly logger: Logger,
  ) {}

  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.look(), this.pollMs).unref();
    this.#unsubscribe = await this.store.subscribe(
      CHANNELS.cancel,
      (executionId) => {
        if (this.runs.get(executionId)) void this.look();
      },
      () => void this.look(),
    );
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    await this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  /** Looks within a moment: at node boundaries, without making the run wait. */
  lookSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.look();
    }, GATHER_MS).unref();
  }

  /** Cancels every local run that somebody asked to end. Never rejects. */
  look(): Promise<void> {
    this.#again = true;
    this.#looking ??= this.#lookWhileAsked();
    return this.#looking;
  }

  async #lookWhileAsked(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      await this.#look();
    }
    this.#looking = undefined;
  }

  async #look(): Promise<void> {
    const ids = this.runs.all().map((run) => run.executionId);
    if (ids.length === 0) return;
    try {
      for (const [executionId, reason] of await this.store.readCancels(ids)) {
        this.runs.get(executionId)?.cancel(REASONS.has(reason) ? (reason as AbortReason) : 'cancelled');
      }
    } catch (error) {
      this.logger.warn('Cancellations could not be looked for.', { error });
    }
  }
}
