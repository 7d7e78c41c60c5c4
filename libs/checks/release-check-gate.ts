import { Injectable } from '@nestjs/common';
import { Configuration, type Principal } from '#libs/kernel';
import { type FailedCheck, type GateSubject, pipelineNotFound, ReleaseGate } from '#libs/pipelines';
import { CheckRunRepository } from './check-run.repository.js';
import { CheckRunner } from './check-runner.js';
import { observedText } from './check.service.js';

/** The release gate: fresh runs of every check, all within one budget (contract 01 §9). */
@Injectable()
export class ReleaseCheckGate extends ReleaseGate {
  readonly #budgetMs: number;

  constructor(
    private readonly runner: CheckRunner,
    private readonly runs: CheckRunRepository,
    configuration: Configuration,
  ) {
    super();
    this.#budgetMs = configuration.get('datapipelines.checks.gate-timeout-seconds') * 1000;
  }

  override async judge(
    { userId, correlationId }: Principal,
    { workspaceId, document, stored }: GateSubject,
  ): Promise<FailedCheck[]> {
    const failed: FailedCheck[] = [];
    if (document.checks.length === 0) return failed;
    const signal = AbortSignal.timeout(this.#budgetMs);
    for await (const outcome of this.runner.run({ workspaceId, document, supplied: {}, signal })) {
      if (stored) {
        const row = await this.runs.add({ ...stored, ranBy: userId, via: 'release', correlationId }, outcome);
        if (!row) throw pipelineNotFound(stored.pipelineId, stored.version);
      }
      const { check, observed, verdict, message } = outcome;
      if (verdict === 'pass') continue;
      const { id, name, expectedJson } = check;
      failed.push({ id, name, expected: expectedJson, observed: observedText(observed), verdict, message });
    }
    return failed;
  }
}
