import { Injectable } from '@nestjs/common';
import { ExecutionInstance } from '../instance/execution-instance.js';
import { stagingAnswers } from './staging-self-test.js';

const CHECK_MS = 2000;
const KEEP_MS = 30_000;

/** Whether a staging engine opens, answers and closes within two seconds; asked at most every 30 s. */
@Injectable()
export class StagingHealth {
  #last: { at: number; check: Promise<void> } | undefined;

  constructor(private readonly instance: ExecutionInstance) {}

  /** Rejects when the engine is down. */
  check(): Promise<void> {
    const now = performance.now();
    if (!this.#last || now - this.#last.at > KEEP_MS) {
      const check = stagingAnswers(this.instance.staging, AbortSignal.timeout(CHECK_MS));
      this.#last = { at: now, check };
    }
    return this.#last.check;
  }
}
