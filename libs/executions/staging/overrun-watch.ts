const TICK_MS = 100;
const MB = 1024 * 1024;
/** Engines keep a little beside what they count themselves: allocator pages, threads, statements. */
const BESIDE_COUNTED = 1.25;

export interface OverrunSettings {
  /** Memory beyond what the engines were lent at which a call is stopped, `datapipelines.staging.overrun-memory-mb`. */
  overrunMb: number;
  /** What engines were lent of the process's staging memory. */
  lentMb: () => number;
  /** A call is about to be stopped. */
  onOverrun: (grownMb: number) => void;
}

/** One native call, while it runs. */
export interface WatchedCall {
  /** Megabytes the process had grown by when this call was chosen to be stopped; undefined for all others. */
  readonly overrunMb: number | undefined;
  leave(): void;
}

interface Suspect {
  readonly bytesAtStart: number;
  readonly interrupt: () => void;
  overrunMb: number | undefined;
}

/**
 * The second wall around an engine's memory. Its own limit counts pages and hash tables, not the vectors of lists and
 * texts: `list_sum(range(2000000000))` takes sixteen gigabytes under any limit. So the native memory of the process is
 * looked at while calls run, and when it grows beyond what the engines were lent, the youngest call that explains the
 * growth alone is stopped; another one only when that has returned and did not help.
 */
export class OverrunWatch {
  /** In the order in which they began. */
  readonly #calls = new Set<Suspect>();
  #timer: NodeJS.Timeout | undefined;
  /** Native memory when the first of the calls under way began, and at the last look. */
  #reference = 0;
  #lastSeen = 0;

  constructor(
    private readonly settings: OverrunSettings,
    private readonly nativeBytes: () => number = nativeBytesOfProcess,
  ) {}

  /** A call begins; `interrupt` stops it, and may be asked for more than once. */
  enter(interrupt: () => void): WatchedCall {
    const bytesAtStart = this.nativeBytes();
    if (this.#calls.size === 0) this.#reference = bytesAtStart;
    const suspect: Suspect = { bytesAtStart, interrupt, overrunMb: undefined };
    this.#calls.add(suspect);
    this.#timer ??= setInterval(() => this.#look(), TICK_MS).unref();
    return {
      get overrunMb() {
        return suspect.overrunMb;
      },
      leave: () => this.#leave(suspect),
    };
  }

  #leave(suspect: Suspect): void {
    this.#calls.delete(suspect);
    if (this.#calls.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const bytes = this.nativeBytes();
    const grows = bytes > this.#lastSeen;
    this.#lastSeen = bytes;
    const { lentMb, overrunMb } = this.settings;
    const allowed = this.#reference + (lentMb() * BESIDE_COUNTED + overrunMb) * MB;
    const stopping = [...this.#calls].find((call) => call.overrunMb !== undefined);
    // A function that fills one long vector hears of it only when it is done; an interrupt before a statement is lost.
    if (stopping) return stopping.interrupt();
    // What an allocator keeps after others have ended is no growth.
    if (bytes <= allowed || !grows) return;
    this.#stop(bytes);
  }

  #stop(bytes: number): void {
    const youngestFirst = [...this.#calls].reverse();
    const grown = ({ bytesAtStart }: Suspect) => Math.round((bytes - bytesAtStart) / MB);
    const culprit =
      youngestFirst.find((call) => grown(call) >= this.settings.overrunMb) ?? youngestFirst[youngestFirst.length - 1];
    if (!culprit) return;
    culprit.overrunMb = grown(culprit);
    this.settings.onOverrun(culprit.overrunMb);
    culprit.interrupt();
  }
}

/** What of the process is not JavaScript's: engines above all. */
function nativeBytesOfProcess(): number {
  const { rss, heapTotal, external } = process.memoryUsage();
  return rss - heapTotal - external;
}
