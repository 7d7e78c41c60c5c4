import type { Logger } from '#libs/kernel';
import type { Database } from '#libs/persistence';
import type { TransientStore } from '#libs/transient';
import { EventHub } from '../events/event-hub.js';
import { LogReader } from '../events/log-reader.js';
import { RemoteLogs } from '../events/remote-logs.js';
import { StoreLogWriter } from '../events/store-log-writer.js';
import { TableLogWriter } from '../events/table-log-writer.js';
import type { ExecutionMetrics } from '../execution-metrics.js';
import type { EventTable } from '../records/event-table.js';
import { ExecutionStatusReader } from '../records/execution-status.js';

/** Records of an ended run survive this long beyond its own budget. */
const LOG_MARGIN_SECONDS = 3600;

export interface LogSurroundings {
  database: Database;
  store: TransientStore;
  table: EventTable;
  metrics: ExecutionMetrics;
  logger: Logger;
  executionTimeoutSeconds: number;
  /** The table did not take events: how far the metadata database is to be trusted changes with it. */
  tableFailed: (error: unknown) => void;
}

/** Both logs of events as one instance writes and reads them (contract 02 §10.2, §10.3). */
export class InstanceLogs {
  readonly hub: EventHub;
  readonly reader: LogReader;
  readonly remote: RemoteLogs;
  readonly #tables: TableLogWriter;
  readonly #stores: StoreLogWriter;

  constructor({ database, store, table, metrics, logger, ...around }: LogSurroundings) {
    this.#tables = new TableLogWriter(table, around.tableFailed, (seconds) => metrics.persistLag(seconds));
    const ttl = around.executionTimeoutSeconds + LOG_MARGIN_SECONDS;
    this.#stores = new StoreLogWriter(store, ttl, (error, dropped) => {
      metrics.eventsDropped(dropped);
      logger.warn('Events were not written to the transient log.', { error, dropped });
    });
    this.hub = new EventHub(this.#tables, this.#stores);
    this.reader = new LogReader(store, table);
    this.remote = new RemoteLogs(store, this.reader, new ExecutionStatusReader(database), logger);
  }

  async start(): Promise<void> {
    await this.remote.start();
  }

  async stop(): Promise<void> {
    this.#tables.stop();
    this.#stores.stop();
    this.hub.stop();
    await this.remote.stop();
  }
}
