import type { MessagePort } from 'node:worker_threads';
import type { DatasourceLimits, NodeBoard, NodePermits, Permit } from '../scheduling/permit-board.js';
import { delivered } from './carried-error.js';
import type { PermitAnswer, PermitRequest } from './permit-messages.js';

interface Asked {
  granted(permit: Permit): void;
  refused(reason: unknown): void;
}

/** The board of an instance in a thread: the permits are kept by the one that started it. */
export class RemotePermits implements NodeBoard {
  readonly #asked = new Map<number, Asked>();
  readonly #sets = new WeakMap<NodePermits, number>();
  #limits: DatasourceLimits | undefined;
  #lastId = 0;
  #paused: PromiseWithResolvers<void> | undefined;

  constructor(private readonly port: MessagePort) {
    port.on('message', (answer: PermitAnswer) => this.#hear(answer));
  }

  /** Whom to ask for the figures of a pool. */
  judgeBy(limits: DatasourceLimits): void {
    this.#limits = limits;
  }

  pause(): void {
    this.#paused ??= Promise.withResolvers();
  }

  resume(): void {
    this.#paused?.resolve();
    this.#paused = undefined;
  }

  async take(nodePermits: NodePermits, datasources: readonly string[], signal: AbortSignal): Promise<Permit> {
    const permit = await this.#ask(nodePermits, datasources, signal);
    while (this.#paused) {
      await Promise.race([this.#paused.promise, aborted(signal)]);
      if (!signal.aborted) continue;
      permit.release();
      signal.throwIfAborted();
    }
    return permit;
  }

  #ask(nodePermits: NodePermits, datasources: readonly string[], signal: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const id = ++this.#lastId;
      const giveUp = () => {
        this.#asked.delete(id);
        this.#send({ kind: 'giveUp', id });
        reject(signal.reason as Error);
      };
      const settled = <T>(settle: (value: T) => void) => {
        return (value: T) => {
          signal.removeEventListener('abort', giveUp);
          settle(value);
        };
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#asked.set(id, { granted: settled(resolve), refused: settled(reject) });
      this.#send({
        kind: 'take',
        id,
        set: this.#setOf(nodePermits),
        limit: nodePermits.limit,
        datasources,
        figures: this.#figuresOf(datasources),
      });
    });
  }

  #hear(answer: PermitAnswer): void {
    const { id } = answer;
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (answer.kind === 'refused') return asked?.refused(delivered(answer.error));
    let held = true;
    asked?.granted({
      release: () => {
        if (held) this.#send({ kind: 'release', id });
        held = false;
      },
    });
  }

  #figuresOf(names: readonly string[]) {
    const limits = this.#limits;
    return new Map(
      names.map((name) => [
        name,
        { poolSize: limits?.poolSize(name) ?? 1, connectionTimeoutMs: limits?.connectionTimeoutMs(name) ?? 1000 },
      ]),
    );
  }

  #setOf(permits: NodePermits): number {
    const known = this.#sets.get(permits) ?? ++this.#lastId;
    this.#sets.set(permits, known);
    return known;
  }

  #send(request: PermitRequest): void {
    this.port.postMessage(request);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
