import { createHash } from 'node:crypto';
import type { ClaimKey, LeaseKind } from './transient-store.js';

/** Names of everything in the store (02 §8). */
export const keys = {
  claim: ({ userId, key }: ClaimKey) => `dp:idem:${userId}:${createHash('sha256').update(key).digest('hex')}`,
  resultRows: (executionId: string) => `dp:result:${executionId}:rows`,
  resultMeta: (executionId: string) => `dp:result:${executionId}:meta`,
  events: (executionId: string) => `dp:events:${executionId}`,
  cancel: (executionId: string) => `dp:cancel:${executionId}`,
  leases: (kind: LeaseKind, userId: string) => `dp:${kind}:${userId}`,
  watcher: (executionId: string) => `dp:watch:${executionId}`,
  ghost: (subject: string) => `dp:auth:ghost:${subject}`,
  usedOnce: (subject: string) => `dp:auth:used:${subject}`,
  lastWorkspace: (userId: string) => `dp:ws:last:${userId}`,
  document: (sha256: string) => `dp:apq:${sha256}`,
  /** What each server last said of itself, by its id. */
  instances: 'dp:instances',
  /** Without the window's number, which the store's clock decides. */
  rateWindow: (subject: string, seconds: number) => `dp:rl:${subject}:${seconds === 1 ? 's' : 'm'}:`,
};

/** Nothing follows these in an execution's log (02 §10.1): what a stalled owner still had to add is dropped. */
export const LAST_EVENTS: readonly string[] = ['pipeline_failed', 'execution_aborted', 'data_ready'];

/** An ended execution's log stays this long; the seed makes it no setting (seed §9). */
export const SEALED_EVENTS_SECONDS = 3600;
