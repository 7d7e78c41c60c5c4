import { createHash } from 'node:crypto';

import { Injectable } from '@nestjs/common';

import { AuditObserver } from '#libs/audit';
import { isPenstockError, type Principal } from '#libs/kernel';

import { ProbeSlots } from './probe-slots.js';

/** What a person used, as the audit row names it. */
export type AuthorTool = 'sql_probe' | 'preview_rows' | 'evidence' | 'execute_node';

/** A statement by a person on a datasource's own data. */
export interface AuthorActFacts {
  datasource: string;
  tool: AuthorTool;
  sql: string;
  /** Longest time it may take, where that is longer than a probe's. */
  longestSeconds?: number;
}

/** All that an audit row holds of a statement (06 §9). */
export function sqlFacts(sql: string): { sql_sha256: string; sql_length: number } {
  return { sql_sha256: createHash('sha256').update(sql).digest('hex'), sql_length: sql.length };
}

/**
 * Whatever a person sends to a datasource outside an execution, reading or writing: at most two at a time each, over all
 * instances, with an audit row of its outcome that holds neither SQL nor values.
 */
@Injectable()
export class AuthorAct {
  constructor(
    private readonly slots: ProbeSlots,
    private readonly observer: AuditObserver,
  ) {}

  /**
   * Runs `work` and records its outcome. `answer` turns a failure into what the person is told.
   *
   * @throws 429 `rate_limit.exceeded`, `rate_limit.unavailable`; else what `answer` makes of the failure
   */
  async run<T>(
    principal: Principal,
    { datasource, tool, sql, longestSeconds }: AuthorActFacts,
    work: () => Promise<T>,
    answer: (error: unknown) => unknown = (error) => error,
  ): Promise<{ done: T; wallMs: number }> {
    const started = performance.now();
    const elapsed = (): number => Math.round(performance.now() - started);
    const facts = { datasource, tool, ...sqlFacts(sql) };
    const tell = (outcome: { outcome: 'ok' } | { outcome: 'failed'; code: string }) =>
      this.observer.observe(principal, 'datasource.probed', { ...facts, ...outcome, elapsed_ms: elapsed() });
    let done: T;
    try {
      done = await this.slots.within(principal.userId, work, longestSeconds);
    } catch (error) {
      const told = answer(error);
      await tell({ outcome: 'failed', code: isPenstockError(told) ? told.code : 'internal' });
      throw told;
    }
    await tell({ outcome: 'ok' });
    return { done, wallMs: elapsed() };
  }
}
