import type { HostedRun } from '../host/hosted-run.js';

/** The runs of this instance, and its own limit on them. */
export class RunRegistry {
  readonly #runs = new Map<string, HostedRun>();
  /** Runs of PIPELINE nodes: they take no place, or a full instance of parents would wait for ever. */
  readonly #children = new Set<string>();
  /** Launches that have a place but no run yet. */
  #reserved = 0;
  #idle: (() => void)[] = [];

  constructor(readonly limit: number) {}

  get size(): number {
    return this.#runs.size;
  }

  get(executionId: string): HostedRun | undefined {
    return this.#runs.get(executionId);
  }

  all(): HostedRun[] {
    return [...this.#runs.values()];
  }

  /** A place for one run; undefined when this instance is full. To be turned into a run or given back. */
  reserve(): Reservation | undefined {
    if (this.#runs.size - this.#children.size + this.#reserved >= this.limit) return undefined;
    this.#reserved++;
    let open = true;
    const close = () => {
      if (open) this.#reserved--;
      open = false;
    };
    return {
      release: () => {
        close();
        this.#wake();
      },
      enter: (run) => {
        close();
        this.#runs.set(run.executionId, run);
      },
    };
  }

  enterChild(run: HostedRun): void {
    this.#children.add(run.executionId);
    this.#runs.set(run.executionId, run);
  }

  leave(run: HostedRun): void {
    this.#children.delete(run.executionId);
    this.#runs.delete(run.executionId);
    this.#wake();
  }

  /** Resolves when no run and no launch is under way here. */
  whenIdle(): Promise<void> {
    if (this.#runs.size + this.#reserved === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #wake(): void {
    if (this.#runs.size + this.#reserved > 0) return;
    const waiting = this.#idle;
    this.#idle = [];
    for (const wake of waiting) wake();
  }
}

export interface Reservation {
  release(): void;
  enter(run: HostedRun): void;
}
