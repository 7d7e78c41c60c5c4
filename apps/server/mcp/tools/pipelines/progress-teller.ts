import type { EventFrame, ExecutionEvents } from '#libs/executions';
import { isJsonObject, Logger, readJson, type JsonObject, type Principal } from '#libs/kernel';
import type { ToolCall } from '../tool.js';

/** Tells a waiting client about each event of a run, from whichever instance runs it. */
export class ProgressTeller {
  constructor(
    private readonly events: Pick<ExecutionEvents, 'watch'>,
    private readonly log: Logger,
  ) {}

  /**
   * Resolves at the last event, or when the client has left. Never rejects: a run is not undone by what could not be told
   * of it, and its answer is still to come.
   */
  async tell(
    principal: Principal,
    executionId: string,
    progress: NonNullable<ToolCall['progress']>,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const watch = await this.events.watch(principal, executionId, { after: 0, signal, attach: true });
      for await (const frame of watch.frames) await progress({ progress: frame.eventId, message: sentence(frame) });
    } catch (error) {
      if (signal.aborted) return;
      this.log.warn('The progress of a run is told no further.', { execution_id: executionId, error });
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
