import type { DatasourceAccess, DatasourceRecord } from '#libs/datasources';
import { liveDatasource } from './live-datasource.js';

/** A node that begins within this time of the launch reads through the row the launch has seen. */
const FRESH_MS = 1000;

/**
 * The datasources of a run, as the statement that recorded it saw them. What a row may forbid at any time (writing, to
 * a workspace whose grant was revoked) is asked of the row itself; only a read right after the launch is spared the
 * question that was answered a moment ago.
 */
export class LaunchSources {
  readonly #seenAt = performance.now();

  constructor(
    private readonly datasources: DatasourceAccess,
    private readonly workspaceId: string,
    /** Name → stamp of the row, of those the workspace sees. */
    private readonly stamps: ReadonlyMap<string, string>,
  ) {}

  get names(): string[] {
    return [...this.stamps.keys()];
  }

  /** Rejects as `liveDatasource`. */
  async forRead(name: string): Promise<DatasourceRecord> {
    const stamp = this.stamps.get(name);
    if (stamp !== undefined && performance.now() - this.#seenAt < FRESH_MS) {
      const record = this.datasources.remembered(this.workspaceId, name, stamp);
      if (record) return record;
    }
    return liveDatasource(this.datasources, name, this.workspaceId);
  }
}
