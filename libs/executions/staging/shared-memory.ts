const LENT = 0;
const WALL = 1;
const NUMBERS = 4;

/** What all threads of a process that run executions must count together. */
export class SharedMemory {
  /** Megabytes lent to staging engines. */
  readonly lent: Int32Array;
  /** Where the wall around native memory stands. */
  readonly wall: Int32Array;

  /** Of `lent`, what this thread has lent by itself: it is given back by others when the thread is gone. */
  readonly lentHere: Int32Array;

  constructor(
    readonly buffer = new SharedArrayBuffer(NUMBERS * Int32Array.BYTES_PER_ELEMENT),
    here = SharedMemory.account(),
  ) {
    this.lentHere = new Int32Array(here);
    const numbers = new Int32Array(buffer);
    this.lent = numbers.subarray(LENT, WALL);
    this.wall = numbers.subarray(WALL, NUMBERS);
  }

  /** For what one thread lends by itself. */
  static account(): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  }

  /** A thread is gone, and the engines it had opened with it. */
  giveBack(account: SharedArrayBuffer): void {
    Atomics.sub(this.lent, 0, Atomics.exchange(new Int32Array(account), 0, 0));
  }
}
