const LENT = 0;
const WALL = 1;
const NUMBERS = 4;

/** What all threads of a process that run executions must count together. */
export class SharedMemory {
  /** Megabytes lent to staging engines. */
  readonly lent: Int32Array;
  /** Where the wall around native memory stands. */
  readonly wall: Int32Array;

  constructor(readonly buffer = new SharedArrayBuffer(NUMBERS * Int32Array.BYTES_PER_ELEMENT)) {
    const numbers = new Int32Array(buffer);
    this.lent = numbers.subarray(LENT, WALL);
    this.wall = numbers.subarray(WALL, NUMBERS);
  }
}
