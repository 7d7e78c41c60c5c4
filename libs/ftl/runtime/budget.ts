import type { GuardName, RenderLimits } from '../limits.js';

/** A guard that tripped; not catchable by `<#attempt>` (contract 05 §6). */
export class GuardTrip extends Error {
  constructor(readonly guard: GuardName) {
    super(`The template exceeds ${guard}.`);
  }
}

/** What the main thread's stack holds with room to spare. */
const DEFAULT_EVALUATION_DEPTH = 1_000;

/** How many steps pass between two looks at the clock. */
const CLOCK_STEPS = 256;

/** Counts what one render uses against its limits. */
export class Budget {
  steps = 0;
  iterations = 0;
  outputChars = 0;
  callDepth = 0;
  depth = 0;

  readonly #maxDepth: number;

  constructor(readonly limits: RenderLimits) {
    this.#maxDepth = limits.maxEvaluationDepth ?? DEFAULT_EVALUATION_DEPTH;
  }

  step(): void {
    if (++this.steps > this.limits.maxSteps) throw new GuardTrip('max-steps');
    if (this.steps % CLOCK_STEPS === 0) this.checkDeadline();
  }

  checkDeadline(): void {
    const { deadline, clock } = this.limits;
    if (deadline !== undefined && clock !== undefined && clock() > deadline) throw new GuardTrip('render-timeout-ms');
  }

  /** Work that is not evaluation, such as the items a built-in looks at. */
  spend(steps: number): void {
    this.steps += steps;
    if (this.steps > this.limits.maxSteps) throw new GuardTrip('max-steps');
  }

  deeper(): void {
    if (++this.depth > this.#maxDepth) throw new GuardTrip('max-call-depth');
  }

  iterate(): void {
    if (++this.iterations > this.limits.maxIterations) throw new GuardTrip('max-iterations');
    this.checkDeadline();
  }

  call(): void {
    if (++this.callDepth > this.limits.maxCallDepth) throw new GuardTrip('max-call-depth');
  }

  wrote(chars: number): void {
    this.outputChars += chars;
    if (this.outputChars > this.limits.maxOutputChars) throw new GuardTrip('max-output-chars');
  }

  string(chars: number): void {
    if (chars > this.limits.maxStringChars) throw new GuardTrip('max-string-chars');
  }

  collection(items: number): void {
    if (items > this.limits.maxCollectionItems) throw new GuardTrip('max-collection-items');
  }
}
