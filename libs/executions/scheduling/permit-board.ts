import { PenstockError } from '#libs/kernel';

/** From here on a waiting node is not overtaken on the datasources it waits for. */
const NO_OVERTAKE_MS = 5000;

/** Sizes that decide how many nodes may use a datasource at a time, and how long one may wait for it. */
export interface DatasourceLimits {
  poolSize(name: string): number;
  connectionTimeoutMs(name: string): number;
}

/** Node permits of one execution; never held while waiting for anything else. */
export class NodePermits {
  taken = 0;
  constructor(readonly limit: number) {}
}

export interface Permit {
  /** Gives all parts back; further calls do nothing. */
  release(): void;
}

/** Who hands out permits: this instance's board, or the one of the instance whose thread this is. */
export interface NodeBoard {
  take(nodePermits: NodePermits, datasources: readonly string[], signal: AbortSignal): Promise<Permit>;
  /** While paused nothing is granted. */
  pause(): void;
  resume(): void;
}

interface Request {
  readonly nodePermits: NodePermits;
  /** Connections needed, by datasource: two for a write-back into the datasource it reads. */
  readonly connections: ReadonlyMap<string, number>;
  readonly grant: (permit: Permit) => void;
  readonly refuse: (reason: unknown) => void;
  /** Set when only datasources are missing: this wait is bounded, that for a node permit is not. */
  waitingSince?: number;
  timer?: NodeJS.Timeout;
}

/**
 * Hands out what a node needs to run, all of it at once or nothing, so that two executions can never hold one half each
 * (contract 02 §4). One per instance: datasource permits equal the size of that pool here. Freed permits go to the
 * longest waiter they satisfy.
 */
export class PermitBoard implements NodeBoard {
  readonly #used = new Map<string, number>();
  readonly #waiting = new Set<Request>();
  #paused = false;

  constructor(
    private readonly limits: DatasourceLimits,
    private readonly now: () => number = () => performance.now(),
  ) {}

  get waiting(): number {
    return this.#waiting.size;
  }

  /** While paused nothing is granted: this instance does not know whether its executions are still its own. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#serve();
  }

  /**
   * Resolves when the node may run. Rejects with the signal's reason, or with
   * `pipeline.node.datasource_connection_failed` (`pool_exhausted`) after the pool's own connection timeout.
   */
  take(nodePermits: NodePermits, datasources: readonly string[], signal: AbortSignal): Promise<Permit> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const giveUp = () => request.refuse(signal.reason);
      const settle = () => {
        this.#waiting.delete(request);
        clearTimeout(request.timer);
        signal.removeEventListener('abort', giveUp);
      };
      const request: Request = {
        nodePermits,
        connections: counted(datasources),
        grant: (permit) => {
          settle();
          resolve(permit);
        },
        refuse: (reason) => {
          settle();
          reject(reason as Error);
          this.#serve();
        },
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(request);
      this.#serve();
    });
  }

  #serve(): void {
    if (this.#paused) return;
    const reserved = new Set<string>();
    for (const request of this.#waiting) {
      if (request.nodePermits.taken >= request.nodePermits.limit) continue;
      const needs = [...request.connections];
      const free = needs.every(([name, count]) => !reserved.has(name) && this.#isFree(name, count));
      if (free) {
        this.#grant(request);
      } else {
        this.#keepWaiting(request);
        const aged = this.now() - request.waitingSince! >= NO_OVERTAKE_MS;
        if (aged) for (const [name] of needs) reserved.add(name);
      }
    }
  }

  #isFree(name: string, count: number): boolean {
    return (this.#used.get(name) ?? 0) + count <= this.limits.poolSize(name);
  }

  #keepWaiting(request: Request): void {
    if (request.waitingSince !== undefined) return;
    request.waitingSince = this.now();
    const name = [...request.connections.keys()].reduce((tightest, candidate) =>
      this.limits.connectionTimeoutMs(candidate) < this.limits.connectionTimeoutMs(tightest) ? candidate : tightest,
    );
    const timeoutMs = this.limits.connectionTimeoutMs(name);
    request.timer = setTimeout(() => request.refuse(poolExhausted(name, timeoutMs)), timeoutMs);
  }

  #grant(request: Request): void {
    request.nodePermits.taken++;
    for (const [name, count] of request.connections) this.#used.set(name, (this.#used.get(name) ?? 0) + count);
    let held = true;
    request.grant({
      release: () => {
        if (!held) return;
        held = false;
        request.nodePermits.taken--;
        for (const [name, count] of request.connections) this.#giveBack(name, count);
        this.#serve();
      },
    });
  }

  #giveBack(name: string, count: number): void {
    const left = this.#used.get(name)! - count;
    if (left > 0) this.#used.set(name, left);
    else this.#used.delete(name);
  }
}

function counted(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function poolExhausted(datasource: string, timeoutMs: number): PenstockError {
  return new PenstockError('pipeline.node.datasource_connection_failed', {
    message: `No connection of "${datasource}" came free within ${timeoutMs} ms.`,
    details: { datasource, reason: 'pool_exhausted', waited_ms: timeoutMs },
  });
}
