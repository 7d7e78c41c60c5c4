import { Global, Module, type DynamicModule, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DatasourceReferences, DatasourcesModule, DeclaredTables, FurtherDrivers } from '#libs/datasources';
import { IdentityModule, KeyBindingWriter } from '#libs/identity';
import { Clock, Configuration, loadConfiguration, Logger, SilentLogger, SystemClock } from '#libs/kernel';
import { Database } from '#libs/persistence';
import {
  ExecutionPurge,
  PipelineDatasourceReferences,
  PipelinesModule,
  PipelineTemplatePins,
  PublishedEndpointReferences,
  ReleaseGate,
} from '#libs/pipelines';
import { TemplatePins, TemplatesModule } from '#libs/templates';
import { InvalidationBus, TransientStore } from '#libs/transient';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestDatabase } from './executions.fixture.js';
import { ExecutionsModule } from './executions.module.js';
import { PurgeExecutions } from './records/purge-executions.js';

export interface WiredInstance {
  get<T>(face: Type<T> | (abstract new (...args: never[]) => T)): T;
  /** A folder whose files may be datasources. */
  files: string;
  stop(): Promise<void>;
}

/** One server's executions as Nest puts them together, on real datasources. */
export async function wiredInstance(
  db: TestDatabase,
  store: TransientStore,
  settings: Record<string, string> = {},
): Promise<WiredInstance> {
  const files = mkdtempSync(join(tmpdir(), 'executions-wired-'));
  const logger = new SilentLogger();
  const configuration = loadConfiguration({
    DATAPIPELINES_STAGING_SPILL_DIRECTORY: join(files, 'spill'),
    DATAPIPELINES_TEMPLATES_RENDER_ISOLATION: 'inline',
    DATAPIPELINES_DATASOURCES_FILE_ROOTS: files,
    ...settings,
  }).withGenerated({
    'datapipelines.metadata-db.url': db.url,
    'datapipelines.db.encryption-key': Buffer.alloc(32, 7).toString('base64'),
    'datapipelines.jwt.secret': Buffer.alloc(32, 9).toString('base64'),
  });
  const bus = new InvalidationBus(store, logger);
  const infrastructure: DynamicModule = {
    module: Infrastructure,
    providers: [
      { provide: Configuration, useValue: configuration },
      { provide: Database, useValue: db.database },
      { provide: TransientStore, useValue: store },
      { provide: Clock, useClass: SystemClock },
      { provide: Logger, useValue: logger },
      { provide: InvalidationBus, useValue: bus },
    ],
    exports: [Configuration, Database, TransientStore, Clock, Logger, InvalidationBus],
  };
  const families = [IdentityModule, DatasourcesModule, TemplatesModule, PipelinesModule, ExecutionsModule];
  const wiring: DynamicModule = {
    module: Wiring,
    imports: families,
    providers: [
      { provide: KeyBindingWriter, useValue: { bind: () => Promise.resolve() } },
      { provide: DatasourceReferences, useExisting: PipelineDatasourceReferences },
      { provide: FurtherDrivers, useValue: { drivers: () => [] } },
      { provide: DeclaredTables, useValue: { register: () => Promise.resolve() } },
      { provide: TemplatePins, useExisting: PipelineTemplatePins },
      { provide: ExecutionPurge, useExisting: PurgeExecutions },
      { provide: PublishedEndpointReferences, useValue: { namesFor: () => Promise.resolve([]) } },
      { provide: ReleaseGate, useValue: { judge: () => Promise.resolve([]) } },
    ],
    exports: [
      KeyBindingWriter,
      DatasourceReferences,
      FurtherDrivers,
      DeclaredTables,
      TemplatePins,
      ExecutionPurge,
      PublishedEndpointReferences,
      ReleaseGate,
    ],
  };
  const module = await Test.createTestingModule({ imports: [infrastructure, wiring, ...families] }).compile();
  await module.init();
  await bus.start();
  return {
    get: (face) => module.get(face as never, { strict: false }),
    files,
    stop: async () => {
      await bus.stop();
      await module.close();
      rmSync(files, { recursive: true, force: true });
    },
  };
}

@Global()
@Module({})
class Infrastructure {}

@Global()
@Module({})
class Wiring {}
