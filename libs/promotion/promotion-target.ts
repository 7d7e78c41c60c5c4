import { isNativeError } from 'node:util/types';
import { Injectable } from '@nestjs/common';
import { AnswerTooLarge, egressFetch, EgressPolicy, HostUnresolved, type EgressRequest } from '#libs/egress';
import { isPenstockError, writeJson, type Principal } from '#libs/kernel';
import type { Inventory } from './inventory.js';
import { keyFingerprint } from './key-fingerprint.js';
import type { PushReport } from './promotion-receiver.js';
import { PromotionSettings } from './promotion-settings.js';
import { inventoryOf, reportOf, unreachable } from './target-answer.js';

/** What is sent in one push, beside who sends it. */
export interface Batch {
  workspace: string;
  templates: readonly unknown[];
  pipelines: readonly unknown[];
  endpoints: readonly unknown[];
}

interface Answer {
  status: number;
  text: string;
}

/** The deployment above this one, over HTTP under the egress policy: its address is judged at each connect (04 §12). */
@Injectable()
export class PromotionTarget {
  constructor(
    private readonly egress: EgressPolicy,
    private readonly settings: PromotionSettings,
  ) {}

  get baseUrl(): string | undefined {
    return this.settings.target?.baseUrl;
  }

  /**
   * @throws the target's own refusal; `pipeline.promotion.target_unreachable` 502 with a reason;
   *   `datasource.validation.host_forbidden` where the policy forbids its address; the reason of a `signal` that aborted
   */
  async inventory(principal: Principal, workspace: string, signal?: AbortSignal): Promise<Inventory> {
    const query = new URLSearchParams({ workspace }).toString();
    const { status, text } = await this.#ask(principal, `/api/v1/promotion/inventory?${query}`, { signal });
    return inventoryOf(status, text);
  }

  /** @throws as {@link inventory} */
  async push(principal: Principal, batch: Batch, signal?: AbortSignal): Promise<PushReport> {
    const key = this.settings.target?.key ?? '';
    const body = writeJson({ source_env: this.settings.sourceEnv, key_fingerprint: keyFingerprint(key), ...batch });
    const { status, text } = await this.#ask(principal, '/api/v1/promotion/push', { method: 'POST', body, signal });
    return reportOf(status, text);
  }

  async #ask(
    { correlationId }: Principal,
    path: string,
    { signal, ...request }: Omit<EgressRequest, 'signal'> & { signal: AbortSignal | undefined },
  ): Promise<Answer> {
    const { target, timeoutMs, maxAnswerBytes: maxBytes } = this.settings;
    if (!target) throw unreachable('not_configured');
    const headers = {
      accept: 'application/json',
      'dp-promotion-key': target.key,
      'dp-correlation-id': correlationId,
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    try {
      const asked = { ...request, headers, ...(signal ? { signal } : {}) };
      const answer = await egressFetch(this.egress, new URL(path, target.baseUrl), asked, { timeoutMs, maxBytes });
      // Whatever answers there may repeat what it was sent; the key never gets into an answer of ours.
      return { status: answer.status, text: (await answer.text()).replaceAll(target.key, '***') };
    } catch (error) {
      throw asFailure(error, signal);
    }
  }
}

/** What is no failure of the connection stays what it is: a caller who left, and a fault of ours. */
function asFailure(error: unknown, signal: AbortSignal | undefined): unknown {
  if (isPenstockError(error) || (signal?.aborted && error === signal.reason)) return error;
  if (error instanceof HostUnresolved) return unreachable('unresolved', coded(causeCode(error)), error);
  if (error instanceof AnswerTooLarge) return unreachable('too_large', {}, error);
  if (error instanceof DOMException && error.name === 'TimeoutError') return unreachable('timeout', {}, error);
  const code = causeCode(error);
  return code === undefined ? error : unreachable('connection', coded(code), error);
}

function coded(code: string | undefined): { cause_code?: string } {
  return code === undefined ? {} : { cause_code: code };
}

/** Such as `ECONNREFUSED` or `CERT_HAS_EXPIRED`; an argument that Node refuses has a code too, and is no such failure. */
function causeCode(error: unknown): string | undefined {
  if (!isNativeError(error) || error.name === 'TypeError' || error.name === 'RangeError') return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return causeCode(error.cause);
}
