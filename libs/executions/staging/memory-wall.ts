import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { getHeapStatistics } from 'node:v8';
import { memoryOfContainerMb } from './memory-budget.js';

const run = promisify(execFile);
const MB = 1024 * 1024;
/** The wall moves in steps, so that it hardly ever moves. */
const STEP_MB = 1024;
const BESIDE_COUNTED = 1.25;
/** For buffers, threads, other engines: what neither staging nor the JavaScript heap takes. */
const LEAST_BESIDE_MB = 1024;
const SHARE_BESIDE = 0.25;
const MOST_OF_CONTAINER = 0.95;

/**
 * The last wall around native memory: the system's own bound on this process's data. Nothing else stops a function of the
 * engine that fills one vector of sixteen gigabytes: it hears of an interrupt only when it is done. Behind the wall its
 * allocation is refused, the engine reports `Out of Memory`, and nothing else happens.
 *
 * It stands where the engines' lent memory, the JavaScript heap at its largest and a share for everything else have room,
 * and follows the most that was ever lent upwards. Linux only, by `prlimit` of util-linux; elsewhere there is none.
 */
export class MemoryWall {
  #before: string | undefined;
  #moving: Promise<void> = Promise.resolve();

  /** `place`: three numbers that all threads of the process share, so that none pulls down what another has raised. */
  constructor(
    private readonly onProblem: (error: unknown) => void,
    private readonly place: Int32Array = new Int32Array(3),
  ) {}

  /** What must have room besides engines; 0 where there is no wall. */
  get #baseMb(): number {
    return Atomics.load(this.place, 0);
  }

  /** Megabytes lent to engines for which there is room. */
  get #admittedMb(): number {
    return Atomics.load(this.place, 1);
  }

  /** The wall counts what is mapped, a container what is resident: by so much the one may be beyond the other. */
  get #mappedOnlyMb(): number {
    return Atomics.load(this.place, 2);
  }

  /** Raises the wall. Never rejects: a system without it is told of once, and has the watch. */
  async start(): Promise<void> {
    try {
      const before = await softLimit();
      const besideMb = Math.max(LEAST_BESIDE_MB, memoryOfContainerMb() * SHARE_BESIDE);
      const mappedMb = await dataMb();
      const baseMb = mappedMb + getHeapStatistics().heap_size_limit / MB + besideMb;
      Atomics.store(this.place, 2, Math.max(0, Math.round(mappedMb - process.memoryUsage.rss() / MB)));
      this.#before = before;
      Atomics.store(this.place, 0, Math.ceil(baseMb));
      await this.#move(STEP_MB);
    } catch (error) {
      Atomics.store(this.place, 0, 0);
      this.onProblem(error);
    }
  }

  /** To be awaited before an engine opens: makes room for what all engines together were lent. Never rejects. */
  async admit(lentMb: number): Promise<void> {
    if (this.#baseMb === 0) return;
    const neededMb = Math.ceil(lentMb / STEP_MB) * STEP_MB;
    if (neededMb > this.#admittedMb) {
      this.#moving = this.#moving.then(() => this.#move(neededMb)).catch(this.onProblem);
    }
    await this.#moving;
  }

  /** Takes the wall away again. */
  async stop(): Promise<void> {
    if (this.#baseMb === 0 || this.#before === undefined) return;
    Atomics.store(this.place, 0, 0);
    await this.#moving;
    await setSoftLimit(this.#before).catch(this.onProblem);
  }

  async #move(admittedMb: number): Promise<void> {
    // Said before it is done, so that another thread that raises it meanwhile raises it further.
    const before = this.#admittedMb;
    if (this.#baseMb === 0 || admittedMb <= before) return;
    if (Atomics.compareExchange(this.place, 1, before, admittedMb) !== before) return this.#move(admittedMb);
    await setSoftLimit(String(Math.floor(this.#placeFor(this.#admittedMb) * MB)));
  }

  #placeFor(admittedMb: number): number {
    const mostMb = this.#mappedOnlyMb + memoryOfContainerMb() * MOST_OF_CONTAINER;
    return Math.min(this.#baseMb + admittedMb * BESIDE_COUNTED, mostMb);
  }
}

async function setSoftLimit(bytes: string): Promise<void> {
  await run('prlimit', ['--pid', String(process.pid), `--data=${bytes}:`]);
}

async function softLimit(): Promise<string> {
  const { stdout } = await run('prlimit', ['--pid', String(process.pid), '--data', '--output=SOFT', '--noheadings']);
  return stdout.trim();
}

/** Private writable memory that is mapped now, which is what the bound counts. */
async function dataMb(): Promise<number> {
  const status = await readFile('/proc/self/status', 'utf8');
  return Number(/^VmData:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
