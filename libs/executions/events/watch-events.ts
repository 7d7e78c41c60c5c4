import { isLastEvent, type EventRecord } from './event-record.js';
import type { EventSource } from './event-source.js';

const READ_LIMIT = 200;

/**
 * Every event after `after`, once, in order, up to the terminal ones. It reads only when the watcher asks for more, so a
 * slow watcher costs no memory: it catches up from the log at the event after the last one it took (contract 02 §10.3).
 * Ends quietly when the signal aborts, and when the row is gone.
 */
export async function* watchEvents(
  source: EventSource,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<EventRecord, void, void> {
  let last = after;
  let completed = false;
  while (!signal.aborted) {
    const { version } = source.changed;
    const { ended } = source;
    const events = await source.read(last, READ_LIMIT);
    for (const event of events) {
      if (signal.aborted) return;
      yield event;
      last = event.eventId;
      completed ||= event.type === 'pipeline_completed';
      if (isLastEvent(event)) return;
    }
    if (events.length > 0) continue;
    // `data_ready` comes with `pipeline_completed`, or not at all.
    if (completed) return;
    if (ended) return yield* outOfOrder(source, after);
    if (!(await changed(source, version, signal))) return;
  }
}

/**
 * The log ended and its watcher has not seen how: a stalled owner had shown events that never happened, under numbers
 * that others have by now. The end is sent under its own number (contract 02 §10.3).
 */
async function* outOfOrder(source: EventSource, after: number): AsyncGenerator<EventRecord, void, void> {
  const terminal = await source.terminal();
  if (terminal && terminal.eventId !== after) yield terminal;
}

/** False when the watcher leaves before anything changes. */
async function changed(source: EventSource, version: number, signal: AbortSignal): Promise<boolean> {
  try {
    await source.changed.after(version, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
