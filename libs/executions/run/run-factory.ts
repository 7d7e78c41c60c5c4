import type { ContextBuilder } from '#libs/pipelines';
import type { EventHub } from '../events/event-hub.js';
import type { InstanceSettings } from '../instance/instance-settings.js';
import type { RunFacts } from '../instance/run-facts.js';
import { FamilyPermits } from '../scheduling/family-permits.js';
import { ExecutionRun } from './execution-run.js';
import { RunClock } from './run-clock.js';
import type { RunServices } from './run-services.js';
import { RunState } from './run-state.js';

/** Makes the runs of one instance of what was read at their launch. */
export class RunFactory {
  constructor(
    private readonly settings: Pick<InstanceSettings, 'result' | 'parallelNodes'>,
    private readonly contexts: ContextBuilder,
    private readonly hub: EventHub,
    private readonly services: RunServices,
  ) {}

  /** How long a result is kept, in seconds from its publication: what was asked for, within the operator's bounds. */
  resultTtlSeconds(asked: number | undefined): number {
    const { ttlDefaultSeconds, ttlMinSeconds, ttlMaxSeconds } = this.settings.result;
    return clamped(asked ?? ttlDefaultSeconds, ttlMinSeconds, ttlMaxSeconds);
  }

  /** The run of a row that was just inserted. */
  prepare(facts: RunFacts): ExecutionRun {
    const { executionId, values, startedAt } = facts;
    const { result, parallelNodes } = this.settings;
    const plan = {
      ...facts,
      context: this.contexts.build(values, { executionId, startedAt }),
      clock: new RunClock(startedAt),
      permits: facts.permits ?? new FamilyPermits(parallelNodes),
      resultTtlSeconds: this.resultTtlSeconds(facts.resultTtlSeconds),
      resultPageRows: clamped(facts.resultPageRows ?? result.pageRows, 1, result.pageMaxRows),
    };
    const state = new RunState(plan, this.hub.open(executionId), (log) => this.hub.appended(log));
    return new ExecutionRun(state, this.services);
  }
}

function clamped(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
