import { Injectable } from '@nestjs/common';
import { Configuration } from '#libs/kernel';

/** Where this deployment promotes to, if anywhere, and within which bounds (contract 05 §13). */
@Injectable()
export class PromotionSettings {
  /** Label of this deployment. */
  readonly sourceEnv: string;
  readonly target: { baseUrl: string; key: string } | undefined;
  readonly timeoutMs: number;
  readonly maxEntries: number;
  /** Largest answer of the target that is read. */
  readonly maxAnswerBytes: number;

  constructor(configuration: Configuration) {
    const baseUrl = configuration.get('datapipelines.deployment.promotion.target.base-url');
    const key = configuration.get('datapipelines.deployment.promotion.target.server-key');
    this.sourceEnv = configuration.get('datapipelines.env');
    this.target = baseUrl === undefined || key === undefined ? undefined : { baseUrl, key };
    this.timeoutMs = configuration.get('datapipelines.deployment.promotion.timeout-seconds') * 1000;
    this.maxEntries = configuration.get('datapipelines.deployment.promotion.max-batch-entries');
    this.maxAnswerBytes = configuration.get('datapipelines.limits.max-import-bytes');
  }
}
