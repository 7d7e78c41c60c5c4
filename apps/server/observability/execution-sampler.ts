import type { Attributes, Context, SpanKind } from '@opentelemetry/api';
import {
  SamplingDecision,
  TraceIdRatioBasedSampler,
  type Sampler,
  type SamplingResult,
} from '@opentelemetry/sdk-trace';
import { EXECUTION_ID } from '#libs/executions';

/** Every span of an execution, and a share of all others by their trace (02 §12). */
export class ExecutionSampler implements Sampler {
  readonly #others: TraceIdRatioBasedSampler;

  /** `share` of 0 to 1. */
  constructor(private readonly share: number) {
    this.#others = new TraceIdRatioBasedSampler(share);
  }

  shouldSample(
    within: Context,
    traceId: string,
    _name: string,
    _kind: SpanKind,
    attributes: Attributes,
  ): SamplingResult {
    if (EXECUTION_ID in attributes) return { decision: SamplingDecision.RECORD_AND_SAMPLED };
    return this.#others.shouldSample(within, traceId);
  }

  toString(): string {
    return `executions, and ${this.share} of other requests`;
  }
}
