import { trace, context, type SpanContext } from '@opentelemetry/api';
import type { AuditEntry } from '#libs/audit';
import type { RunFacts } from '../instance/run-facts.js';
import type { TerminalRecord } from '../records/terminal-writes.js';
import type { AbortReason } from '../run/outcome.js';
import type { TerminalOutcome } from '../run/run-ending.js';
import { carried } from './carried-error.js';
import type { HostedRun } from './hosted-run.js';
import { orderOf } from './run-order.js';
import type { ChildNotice, ThreadOrder } from './thread-messages.js';

/** A run as the instance sees it whose scheduler works in one of its threads. */
export class ThreadRun implements HostedRun {
  readonly #ended = Promise.withResolvers<TerminalOutcome>();
  /** Asked for before it was ordered. */
  readonly #early: ThreadOrder[] = [];
  #ordered = false;

  private constructor(
    readonly executionId: string,
    readonly userId: string,
    readonly workspaceId: string,
    readonly attached: boolean,
    private readonly send: (order: ThreadOrder) => void,
    private readonly facts?: RunFacts,
  ) {}

  /** A launch of the instance; the thread hears of it when it is to run. */
  static ordered(facts: RunFacts, send: (order: ThreadOrder) => void): ThreadRun {
    const { executionId, userId, pipeline, attached } = facts;
    return new ThreadRun(executionId, userId, pipeline.workspaceId, attached, send, facts);
  }

  /** A child that a thread has begun by itself. */
  static told({ executionId, userId, workspaceId }: ChildNotice, send: (order: ThreadOrder) => void): ThreadRun {
    const run = new ThreadRun(executionId, userId, workspaceId, false, send);
    run.#ordered = true;
    return run;
  }

  /** Who launched it goes on as the parent of its spans. */
  readonly #parentSpan: SpanContext | undefined = trace.getSpanContext(context.active());

  cancel(reason: AbortReason): void {
    this.#tell({ kind: 'cancel', executionId: this.executionId, reason });
  }

  fail(error: unknown): void {
    this.#tell({ kind: 'fail', executionId: this.executionId, error: carried(error) });
  }

  fence(): void {
    this.#tell({ kind: 'fence', executionId: this.executionId });
  }

  async run(): Promise<TerminalOutcome> {
    const { facts } = this;
    if (facts) {
      this.send({ kind: 'run', order: orderOf(facts), parentSpan: this.#parentSpan });
      this.#ordered = true;
      for (const order of this.#early.splice(0)) this.send(order);
    }
    try {
      return await this.#ended.promise;
    } finally {
      facts?.memory?.release();
    }
  }

  /** What the trail says of this end. */
  async audited(status: TerminalRecord['status']): Promise<AuditEntry | undefined> {
    return await this.facts?.trail?.ended(status);
  }

  /** The thread reports its end, or is gone. */
  end(outcome: TerminalOutcome): void {
    this.#ended.resolve(outcome);
  }

  #tell(order: ThreadOrder): void {
    if (this.#ordered) this.send(order);
    else this.#early.push(order);
  }
}
