import { totalmem } from 'node:os';

/** Below this an engine is of no use, and no further one is opened. */
const SMALLEST_ENGINE_MB = 64;
const SHARE_OF_WHAT_IS_LEFT = 8;

/** What the container, or else the machine, may use. */
export function memoryOfContainerMb(): number {
  const constrained = process.constrainedMemory();
  const bytes = constrained > 0 && constrained < totalmem() ? constrained : totalmem();
  return bytes / 1024 / 1024;
}

/** Half of that. */
export function defaultTotalMemoryMb(): number {
  return Math.max(SMALLEST_ENGINE_MB, Math.floor(memoryOfContainerMb() / 2));
}

/**
 * Staging memory of the process (contract 02 §6.1). An engine gets the least of its own limit and an eighth of what is
 * left, so that many engines fit; whole limits would let one large pipeline shut out all others. Nobody waits here, so
 * that families of executions cannot wait for each other.
 */
export class MemoryBudget {
  constructor(
    readonly totalMb: number,
    /** Megabytes lent; shared by the threads of a process that run executions. */
    private readonly lent: Int32Array = new Int32Array(1),
    /** Of these, what this thread has lent. */
    private readonly lentHere: Int32Array = new Int32Array(1),
  ) {}

  get leftMb(): number {
    return this.totalMb - this.lentMb;
  }

  /** What open engines hold. */
  get lentMb(): number {
    return Atomics.load(this.lent, 0);
  }

  /** Takes memory for an engine limited to `limitMb`; undefined when less than the smallest engine is left. */
  reserve(limitMb: number): MemoryReservation | undefined {
    for (;;) {
      const lentMb = this.lentMb;
      const leftMb = this.totalMb - lentMb;
      if (leftMb < SMALLEST_ENGINE_MB) return undefined;
      const share = Math.max(SMALLEST_ENGINE_MB, Math.floor(leftMb / SHARE_OF_WHAT_IS_LEFT));
      const mb = Math.min(limitMb, share);
      // Another thread may have lent some in between.
      if (Atomics.compareExchange(this.lent, 0, lentMb, lentMb + mb) !== lentMb) continue;
      Atomics.add(this.lentHere, 0, mb);
      return this.#reservation(mb);
    }
  }

  #reservation(mb: number): MemoryReservation {
    let held = true;
    return {
      mb,
      release: () => {
        if (!held) return;
        held = false;
        Atomics.sub(this.lentHere, 0, mb);
        Atomics.sub(this.lent, 0, mb);
      },
    };
  }
}

export interface MemoryReservation {
  readonly mb: number;
  /** Gives the memory back; further calls do nothing. */
  release(): void;
}
