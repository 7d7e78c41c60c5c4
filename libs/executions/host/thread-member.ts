import { context, ROOT_CONTEXT, trace, type SpanContext } from '@opentelemetry/api';
import { register } from 'prom-client';
import type { MessagePort } from 'node:worker_threads';
import type { ExecutionInstance } from '../instance/execution-instance.js';
import type { AuditEntry } from '#libs/audit';
import type { TerminalRecord } from '../records/terminal-writes.js';
import { delivered } from './carried-error.js';
import { factsOf, type RunOrder } from './run-order.js';
import type { ThreadOrder, ThreadReport } from './thread-messages.js';

/** The inside of a thread that runs executions: an instance of its own, told by another one what to run. */
export class ThreadMember {
  #beat: NodeJS.Timeout | undefined;
  /** Runs at their end that wait to hear what the trail says of it. */
  readonly #ending = new Map<string, (entry: AuditEntry | undefined) => void>();

  constructor(
    private readonly instance: ExecutionInstance,
    private readonly port: MessagePort,
    /** Ends what the thread has opened besides. */
    private readonly close: () => Promise<void>,
  ) {}

  async start(): Promise<void> {
    const { instance } = this;
    await instance.start();
    this.#beat = setInterval(() => void instance.ownership.beat(), instance.settings.heartbeatMs);
    this.port.on('message', (order: ThreadOrder) => this.#obey(order));
    this.#report({ kind: 'ready', instanceId: instance.id });
  }

  #obey(order: ThreadOrder): void {
    const { runs } = this.instance;
    switch (order.kind) {
      case 'run':
        return this.#run(order.order, order.parentSpan);
      case 'cancel':
        return runs.get(order.executionId)?.cancel(order.reason);
      case 'fence':
        return runs.get(order.executionId)?.fence();
      case 'fail':
        return runs.get(order.executionId)?.fail(delivered(order.error));
      case 'audited':
        this.#ending.get(order.executionId)?.(order.entry);
        return void this.#ending.delete(order.executionId);
      case 'flush':
        return void this.instance.flush().finally(() => this.#report({ kind: 'answer', id: order.id, value: null }));
      case 'metrics':
        return void register
          .getMetricsAsJSON()
          .then((value) => this.#report({ kind: 'answer', id: order.id, value: JSON.parse(JSON.stringify(value)) }));
      case 'stop':
        return void this.#stop();
    }
  }

  #run(order: RunOrder, parentSpan: SpanContext | undefined): void {
    const { instance } = this;
    const parent = parentSpan ? trace.setSpanContext(ROOT_CONTEXT, { ...parentSpan, isRemote: true }) : ROOT_CONTEXT;
    const trail = { ended: (status: TerminalRecord['status']) => this.#audited(order.executionId, status) };
    const run = context.with(parent, () => instance.prepare(factsOf(order, trail)));
    // Whether there is room was decided where it was launched.
    instance.runs.enterChild(run);
    void instance.begin(run, undefined).then((outcome) => this.#report({ kind: 'ended', outcome }));
  }

  #audited(executionId: string, status: TerminalRecord['status']): Promise<AuditEntry | undefined> {
    return new Promise((resolve) => {
      this.#ending.set(executionId, resolve);
      this.#report({ kind: 'ending', executionId, status });
    });
  }

  async #stop(): Promise<void> {
    clearInterval(this.#beat);
    await this.instance.stop();
    await this.close();
    this.port.close();
  }

  #report(report: ThreadReport): void {
    this.port.postMessage(report);
  }
}
