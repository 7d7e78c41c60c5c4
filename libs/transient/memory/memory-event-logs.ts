import { keys, LAST_EVENTS, SEALED_EVENTS_SECONDS } from '../keys.js';
import type { LoggedEvent } from '../transient-store.js';
import type { ExpiringEntries } from './expiring-entries.js';

interface EventLog {
  events: LoggedEvent[];
  bytes: number;
}

const EVENT_BYTES = 200;

export class MemoryEventLogs {
  constructor(private readonly entries: ExpiringEntries) {}

  append(executionId: string, events: readonly LoggedEvent[], ttlSeconds: number): void {
    const key = keys.events(executionId);
    const log = this.entries.get<EventLog>(key) ?? { events: [], bytes: 0 };
    const newest = log.events.at(-1);
    if (newest && LAST_EVENTS.includes(newest.type)) return;
    const last = newest?.eventId ?? 0;
    const fresh = events.filter(({ eventId }) => eventId > last);
    if (fresh.length === 0) return;
    const total = fresh.reduce((sum, { payload }) => sum + 2 * payload.length + EVENT_BYTES, log.bytes);
    this.entries.set(key, log, total, this.entries.expiresAtMs(key) ?? this.entries.after(ttlSeconds));
    log.bytes = total;
    log.events.push(...fresh);
  }

  seal(executionId: string): void {
    this.entries.expireAt(keys.events(executionId), this.entries.after(SEALED_EVENTS_SECONDS));
  }

  read(executionId: string, after: number, limit: number): LoggedEvent[] {
    const events = this.entries.get<EventLog>(keys.events(executionId))?.events ?? [];
    const first = firstAfter(events, after);
    return events.slice(first, first + limit);
  }
}

/** Position of the first event with a higher id; ids ascend. */
function firstAfter(events: readonly LoggedEvent[], after: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((events[middle]?.eventId ?? 0) <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}
