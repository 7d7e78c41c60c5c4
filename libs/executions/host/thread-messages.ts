import type { SpanContext } from '@opentelemetry/api';
import type { MessagePort } from 'node:worker_threads';
import type { AuditEntry } from '#libs/audit';
import type { ErrorCode } from '#libs/kernel';
import type { TerminalRecord } from '../records/terminal-writes.js';
import type { AbortReason } from '../run/outcome.js';
import type { TerminalOutcome } from '../run/run-ending.js';
import type { RunOrder } from './run-order.js';

/** An error of ours on its way to another thread. */
export interface CarriedError {
  code: ErrorCode;
  message: string;
  details: Record<string, unknown>;
}

/** What a thread is born with, beside what its program needs. */
export interface ThreadBirth {
  /** Answers for permits of datasources. */
  permits: MessagePort;
  /** Numbers that all threads of the process share. */
  memory: SharedArrayBuffer;
  /** Where this thread counts what it has lent by itself. */
  lentHere: SharedArrayBuffer;
  /** Threads that run executions, this one included. */
  threads: number;
}

/** From the instance to one of its threads. */
export type ThreadOrder =
  | { kind: 'run'; order: RunOrder; parentSpan: SpanContext | undefined }
  | { kind: 'cancel'; executionId: string; reason: AbortReason }
  | { kind: 'fence'; executionId: string }
  | { kind: 'fail'; executionId: string; error: CarriedError }
  /** What the trail says of a run's end. */
  | { kind: 'audited'; executionId: string; entry: AuditEntry | undefined }
  | { kind: 'flush'; id: number }
  | { kind: 'metrics'; id: number }
  | { kind: 'stop' };

/** A run of a PIPELINE node, which the instance did not launch. */
export interface ChildNotice {
  executionId: string;
  userId: string;
  workspaceId: string;
}

/** From a thread to its instance. */
export type ThreadReport =
  /** It takes runs; the id is that of its spill folder. */
  | { kind: 'ready'; instanceId: string }
  | { kind: 'child'; child: ChildNotice }
  /** A run is about to end, and its end stands in the trail. */
  | { kind: 'ending'; executionId: string; status: TerminalRecord['status'] }
  | { kind: 'ended'; outcome: TerminalOutcome }
  | { kind: 'answer'; id: number; value: unknown };
