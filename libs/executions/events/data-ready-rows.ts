import { Injectable } from '@nestjs/common';
import {
  isExactNumber,
  isJsonObject,
  isPenstockError,
  RawJson,
  readJson,
  writeJson,
  type JsonValue,
} from '#libs/kernel';
import { ResultReader } from '../results/result-reader.js';
import type { EventRecord } from './event-record.js';

/**
 * Puts the first page back into `data_ready`, whose rows are in neither log (contract 02 §10.2). While the result lives
 * every stream and replay shows them; later the event says `rows_omitted`.
 */
@Injectable()
export class DataReadyRows {
  /** Several watchers of one event share the work. */
  readonly #filled = new WeakMap<EventRecord, Promise<string | undefined>>();

  constructor(private readonly results: ResultReader) {}

  /** The payload to show; every other event's as it is. */
  async shown(executionId: string, event: EventRecord): Promise<string> {
    if (event.type !== 'data_ready') return event.data;
    const known = this.#filled.get(event) ?? this.withRows(executionId, event);
    this.#filled.set(event, known);
    let filled: string | undefined;
    try {
      filled = await known;
    } finally {
      // Only what was found is remembered: the store may be back for the next watcher.
      if (filled === undefined && this.#filled.get(event) === known) this.#filled.delete(event);
    }
    return filled ?? event.data;
  }

  /** Undefined when the rows are gone. `pageRows` overrides the page size the run was launched with. */
  async withRows(executionId: string, event: EventRecord, pageRows?: number): Promise<string | undefined> {
    const payload = readJson(event.data);
    if (!isJsonObject(payload)) return undefined;
    const rows = await this.#rows(executionId, pageRows ?? countOf(payload['row_count']));
    if (!rows) return undefined;
    const { rows_omitted: _omitted, ...shown } = payload;
    return writeJson({
      ...shown,
      rows: rows.map((row) => new RawJson(row)),
      row_count: rows.length,
      has_more: rows.length < countOf(payload['total_rows']),
    });
  }

  /** Undefined when the result has expired or cannot be read: the event is shown without rows then. */
  async #rows(executionId: string, limit: number): Promise<string[] | undefined> {
    try {
      return await this.results.firstRows(executionId, limit);
    } catch (error) {
      if (isPenstockError(error) && error.code === 'result.storage_unavailable') return undefined;
      throw error;
    }
  }
}

function countOf(value: JsonValue | undefined): number {
  return isExactNumber(value) ? Number(value.value) : 0;
}
