import { writeJson } from '#libs/kernel';
import { CalculatorScope } from '#libs/pipelines';
import type { ExecutionLog } from '../events/execution-log.js';
import { Calculation } from './calculate-node.js';
import { NodeStats } from './node-stats.js';
import type { DeliveredResult } from './node-work.js';
import { OutcomeLatch } from './outcome.js';
import type { ProgressSource } from './progress-writer.js';
import { RunEvents, type UnnumberedEvent } from './run-events.js';
import type { RunPlan } from './run-plan.js';
import { RunSpans } from './run-spans.js';

/** What is known of a run while it runs, on the instance that owns it. */
export class RunState implements ProgressSource {
  readonly latch = new OutcomeLatch();
  readonly stats: NodeStats;
  readonly events: RunEvents;
  /** The Context as it grows. */
  readonly context: CalculatorScope;
  readonly calculation: Calculation;
  readonly spans: RunSpans;
  /** Of the caller node, once it is done. */
  delivered: DeliveredResult | undefined;
  ended = false;
  /** Monotonic time of the last confirmed beat; the INSERT was the first. */
  lastBeat = performance.now();

  constructor(
    readonly plan: RunPlan,
    readonly log: ExecutionLog,
    private readonly onEvent: (log: ExecutionLog) => void,
  ) {
    const { pipeline, executionId, correlationId, clock } = plan;
    this.context = new CalculatorScope(pipeline.document, plan.context);
    this.calculation = new Calculation(this.context, plan.calculated);
    this.spans = new RunSpans(plan);
    this.stats = new NodeStats(pipeline.document.nodes.map(({ id }) => id));
    this.events = new RunEvents({
      executionId,
      correlationId,
      pipelineId: pipeline.pipelineId,
      pipelineVersion: pipeline.version,
      startedAt: clock.startedAt,
    });
  }

  get executionId(): string {
    return this.plan.executionId;
  }

  now(): Date {
    return this.plan.clock.now();
  }

  emit({ type, timestamp, data }: UnnumberedEvent): void {
    this.log.append(type, timestamp, data);
    this.onEvent(this.log);
  }

  nodeStatsJson(): string {
    return writeJson(this.stats.snapshot());
  }
}
