import { readFileSync, writeFileSync } from 'node:fs';

/** Memory of another process in MB as the kernel counts it. Linux only. */
export class ProcessMemory {
  constructor(private readonly pid: number | undefined) {}

  get resident(): number {
    return this.#read('VmRSS');
  }

  /** The most it has had since its start, or since it was forgotten. */
  get peak(): number {
    return this.#read('VmHWM');
  }

  forgetPeak(): void {
    writeFileSync(`/proc/${this.pid}/clear_refs`, '5');
  }

  #read(field: string): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1];
    if (kilobytes === undefined) throw new TypeError(`The kernel does not tell ${field} of process ${this.pid}.`);
    return Number(kilobytes) / 1024;
  }
}
