import type { EventRecord } from './event-record.js';
import type { EventSource } from './event-source.js';
import { WatchCursor } from './watch-cursor.js';

/**
 * Every event after `after`, once, in order, up to the terminal ones, as its reader asks for them. Ends quietly when the
 * signal aborts, and when the row is gone.
 */
export async function* watchEvents(
  source: EventSource,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<EventRecord, void, void> {
  const cursor = new WatchCursor(source, after);
  while (!signal.aborted) {
    const { version } = source.changed;
    const step = await cursor.next();
    if (step === 'end') return;
    if (step === 'wait') {
      if (!(await changed(source, version, signal))) return;
      continue;
    }
    for (const event of step) {
      if (signal.aborted) return;
      yield event;
    }
  }
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
