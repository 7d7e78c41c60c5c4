import { isLastEvent, type EventRecord } from './event-record.js';
import type { EventSource } from './event-source.js';

const READ_LIMIT = 200;

/** What comes next: events, nothing until the source changes, or nothing any more. */
export type WatchStep = readonly EventRecord[] | 'wait' | 'end';

/**
 * Where one watcher stands: every event after `after`, once, in order, up to the terminal ones. It reads only when it is
 * asked, so a slow watcher costs no memory: it catches up from the log at the event after the last one it took
 * (contract 02 §10.3).
 */
export class WatchCursor {
  #last: number;
  #completed = false;
  #over = false;

  constructor(
    private readonly source: EventSource,
    private readonly after: number,
  ) {
    this.#last = after;
  }

  /** At once when memory has what comes next; otherwise from the shared logs. */
  next(): WatchStep | Promise<WatchStep> {
    if (this.#over) return 'end';
    const { ended } = this.source;
    const found = this.source.read(this.#last, READ_LIMIT);
    return found instanceof Promise ? found.then((events) => this.#take(events, ended)) : this.#take(found, ended);
  }

  #take(found: readonly EventRecord[], ended: boolean): WatchStep | Promise<WatchStep> {
    if (found.length > 0) return this.#advance(found);
    // `data_ready` comes with `pipeline_completed`, or not at all.
    if (this.#completed) return 'end';
    if (!ended) return 'wait';
    this.#over = true;
    return this.#outOfOrder();
  }

  #advance(found: readonly EventRecord[]): readonly EventRecord[] {
    const end = found.findIndex(isLastEvent);
    this.#over = end >= 0;
    const events = end < 0 ? found : found.slice(0, end + 1);
    this.#last = events.at(-1)!.eventId;
    this.#completed ||= events.some(({ type }) => type === 'pipeline_completed');
    return events;
  }

  /**
   * The log ended and its watcher has not seen how: a stalled owner had shown events that never happened, under numbers
   * that others have by now. The end is sent under its own number (contract 02 §10.3).
   */
  async #outOfOrder(): Promise<WatchStep> {
    const terminal = await this.source.terminal();
    return terminal && terminal.eventId !== this.after ? [terminal] : 'end';
  }
}
