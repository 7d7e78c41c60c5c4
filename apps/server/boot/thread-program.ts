import { NestFactory } from '@nestjs/core';
import { parentPort } from 'node:worker_threads';
import {
  ExecutionInstance,
  ExecutionPlace,
  RemotePermits,
  SharedMemory,
  ThreadMember,
  type ThreadReport,
} from '#libs/executions';
import { Clock, Configuration, createLogger, Logger, SystemClock } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { InvalidationBus, TransientStore } from '#libs/transient';
import { HostThreadModule } from '../host-thread.module.js';
import { startTracing } from '../observability/tracing.js';
import type { HostThreadData } from './execution-place.js';
import { protectStore } from './protect-store.js';
import { openThreadStores } from './stores.js';

/** The program of a thread that runs executions: an instance without doors. */
export async function serve({ configuration: carried, birth, store, version }: HostThreadData): Promise<void> {
  const port = parentPort!;
  const report = (message: ThreadReport) => port.postMessage(message);
  const configuration = Configuration.of(carried);
  const log = createLogger({
    level: configuration.get('datapipelines.observability.logging.level'),
    format: configuration.get('datapipelines.observability.logging.format'),
  });
  const stores = await openThreadStores(configuration, log, { threads: birth.threads, store });
  const bus = new InvalidationBus(stores.transient, log);
  const place = ExecutionPlace.within({
    threads: birth.threads,
    memory: new SharedMemory(birth.memory, birth.lentHere),
    board: new RemotePermits(birth.permits),
    childBegan: (child) => report({ kind: 'child', child }),
    childEnded: (outcome) => report({ kind: 'ended', outcome }),
  });
  const module = HostThreadModule.with([
    { provide: Configuration, useValue: configuration },
    { provide: Database, useValue: stores.database },
    { provide: TransientStore, useValue: stores.transient },
    { provide: InvalidationBus, useValue: bus },
    { provide: Clock, useClass: SystemClock },
    { provide: Logger, useValue: log },
    { provide: ExecutionPlace, useValue: place },
  ]);
  const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
  protectStore(app);
  const stopTracing = await startTracing(configuration, version, log);
  await bus.start();
  const member = new ThreadMember(app.get(ExecutionInstance, { strict: false }), port, async () => {
    birth.permits.close();
    await app.close();
    await stopTracing();
    await bus.stop();
    await stores.transient.close();
    await stores.database.close();
  });
  await member.start();
}
