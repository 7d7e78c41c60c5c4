import type { EventFrame, ExecutionEvents, UserLease } from '#libs/executions';
import {
  isJsonObject,
  isPenstockError,
  Logger,
  readJson,
  type JsonObject,
  type PenstockError,
  type Principal,
} from '#libs/kernel';
import type { ToolCall } from '../tool.js';

/** Tells a waiting client about each event of a run, from whichever instance runs it. */
export class ProgressTeller {
  constructor(
    private readonly events: Pick<ExecutionEvents, 'watch' | 'stream'>,
    private readonly log: Logger,
  ) {}

  /**
   * Resolves at the last event, or when the client has left. It is one of the person's streams, as a stream over REST is;
   * who has as many as there may be is told so once, and waits for the answer alone. Never rejects: a run is not undone by
   * what could not be told of it, and its answer is still to come. `held` is a stream that the caller has taken already.
   */
  async tell(
    principal: Principal,
    executionId: string,
    progress: NonNullable<ToolCall['progress']>,
    signal: AbortSignal,
    held?: UserLease,
  ): Promise<void> {
    let lease = held;
    try {
      lease ??= await this.events.stream(principal);
      const watch = await this.events.watch(principal, executionId, { after: 0, signal, attach: true });
      for await (const frame of watch.frames) await progress({ progress: frame.eventId, message: sentence(frame) });
    } catch (error) {
      if (signal.aborted) return;
      if (lease === undefined && isPenstockError(error) && error.status === 429) await this.#untold(error, progress);
      else this.log.warn('The progress of a run is told no further.', { execution_id: executionId, error });
    } finally {
      if (lease !== held) await lease?.release();
    }
  }

  /** The client is gone where this cannot be sent; nothing else is left to do for it. */
  async #untold({ message }: PenstockError, progress: NonNullable<ToolCall['progress']>): Promise<void> {
    try {
      await progress({ progress: 1, message: `${message} This run is not told step by step; its answer comes.` });
    } catch (error) {
      this.log.debug('A client that waits for a run could not be told that it is not told more.', { error });
    }
  }
}

function sentence({ type, data }: EventFrame): string {
  const payload = readJson(data);
  const fields: JsonObject = isJsonObject(payload) ? payload : {};
  const text = (name: string): string => String(fields[name] ?? '');
  switch (type) {
    case 'execution_started':
      return `Run ${text('execution_id')} started.`;
    case 'node_started':
      return `Node ${text('node_id')} started.`;
    case 'node_progress':
      return `Node ${text('node_id')}: ${text('rows_written') || text('rows_fetched') || '0'} rows so far.`;
    case 'node_completed':
      return `Node ${text('node_id')} completed: ${text('rows_out')} rows in ${text('duration_ms')} ms.`;
    case 'node_failed':
      return `Node ${text('node_id')} failed.`;
    default:
      return `${type.replaceAll('_', ' ')}.`;
  }
}
