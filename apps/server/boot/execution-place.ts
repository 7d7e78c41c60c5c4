import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';
import { ExecutionPlace, type ThreadBirth } from '#libs/executions';
import type { CarriedConfiguration, Configuration } from '#libs/kernel';
import { MemoryTransientStore, serveTransientStore } from '#libs/transient';
import type { Stores } from './stores.js';

/** What a thread for executions is given at its birth. */
export interface HostThreadData {
  configuration: CarriedConfiguration;
  birth: ThreadBirth;
  /** To the server's store, where that is in memory. */
  store: MessagePort | undefined;
  version: string;
}

/** Where executions run, as `datapipelines.executor.host` says. */
export function executionPlace(configuration: Configuration, stores: Stores, version: string): ExecutionPlace {
  if (configuration.get('datapipelines.executor.host') === 'inline') return ExecutionPlace.inline();
  const threads = configuration.get('datapipelines.executor.host-threads');
  // One for each thread, and one for what the server itself asks of engines.
  const calls = Math.floor(configuration.get('datapipelines.staging.max-concurrent-calls') / (threads + 1));
  const shared = configuration.carried({
    'datapipelines.staging.max-concurrent-calls': Math.max(1, calls),
    // What the server declares at its boot is no business of a thread, which may be born at any time.
    'datapipelines.bootstrap.datasources-file': undefined,
  });
  const heapMb = configuration.get('datapipelines.executor.host-thread-heap-mb');
  return ExecutionPlace.with({
    count: threads,
    spawn: (birth) => {
      const store = portOf(stores);
      const workerData: HostThreadData = { configuration: shared, birth, store, version };
      return new Worker(new URL('./host-thread.js', import.meta.url), {
        name: 'executions',
        workerData,
        transferList: store ? [birth.permits, store] : [birth.permits],
        ...(heapMb === 0 ? {} : { resourceLimits: { maxOldGenerationSizeMb: heapMb } }),
      });
    },
  });
}

/** Redis is reached from every thread by itself; a store in memory is where it is. */
function portOf({ transient }: Stores): MessagePort | undefined {
  if (!(transient instanceof MemoryTransientStore)) return undefined;
  const { port1, port2 } = new MessageChannel();
  const end = serveTransientStore(port1, transient);
  port1.on('close', () => void end());
  return port2;
}
