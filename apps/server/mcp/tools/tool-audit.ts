import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AuditObserver } from '#libs/audit';
import type { Principal } from '#libs/kernel';
import type { ToolDeclaration } from './tool.js';

/** How a call ended: done, refused by the application, not understood, or failed in a way that is ours. */
export type CallOutcome = 'success' | 'refused' | 'invalid' | 'failed';

export interface CallRecord {
  tool: string;
  declaration: ToolDeclaration | undefined;
  given: Readonly<Record<string, unknown>> | undefined;
  outcome: CallOutcome;
  code?: string;
  /** Whether the work may have changed something, however the call ended. */
  acted: boolean;
  startedAt: number;
}

const MAX_NAME_CHARS = 64;
const MAX_TARGET_CHARS = 200;

/** One row for every call, one more for a write: done, or begun and then failed. No arguments; SQL as its hash and length (06 §12). */
@Injectable()
export class ToolAudit {
  constructor(private readonly observer: AuditObserver) {}

  async called(principal: Principal, record: CallRecord): Promise<void> {
    const { declaration, outcome, code, acted, startedAt } = record;
    const details = {
      tool: record.tool.slice(0, MAX_NAME_CHARS),
      target: targetOf(record),
      outcome,
      code,
      elapsed_ms: Math.round(performance.now() - startedAt),
      ...sqlFacts(record.given),
    };
    await this.observer.observe(principal, 'mcp.tool.called', details);
    if (!acted || declaration === undefined || declaration.effect === 'reads') return;
    await this.observer.observe(principal, 'mcp.tool.write', details);
  }

  async resourceRead(principal: Principal, uri: string, outcome: CallOutcome, startedAt: number): Promise<void> {
    await this.observer.observe(principal, 'mcp.resource.read', {
      target: uri.slice(0, MAX_TARGET_CHARS),
      outcome,
      elapsed_ms: Math.round(performance.now() - startedAt),
    });
  }
}

function targetOf({ declaration, given }: CallRecord): string | undefined {
  const target = declaration?.target === undefined ? undefined : given?.[declaration.target];
  return typeof target === 'string' ? target.slice(0, MAX_TARGET_CHARS) : undefined;
}

function sqlFacts(given: CallRecord['given']): { sql_sha256?: string; sql_length?: number } {
  const sql = given?.['sql'] ?? given?.['evidence_sql'];
  if (typeof sql !== 'string') return {};
  return { sql_sha256: createHash('sha256').update(sql).digest('hex'), sql_length: sql.length };
}
