import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import { Injectable } from '@nestjs/common';

import {
  FileRoots,
  FurtherDrivers,
  type DialectDriver,
  type DriverContext,
  type SharedEngineParts,
  type SourceLogin,
} from '#libs/datasources';
import { EgressPolicy } from '#libs/egress';
import { Configuration } from '#libs/kernel';
import { Database } from '#libs/persistence';

import { lakeDriver } from './engine/lake-driver.js';
import type { EngineParts } from './engine/lake-engine.js';
import { LakeSource } from './engine/lake-source.js';
import { IcebergTables } from './iceberg/iceberg-tables.js';
import { localTables } from './iceberg/local-table.js';
import type { LakeOptions } from './options/lake-options.js';
import { LakeTableRepository } from './registry/lake-table.repository.js';
import { openHttpfs } from './s3/httpfs.js';
import { Mirror } from './s3/mirror.js';
import { MirroredCopies } from './s3/mirrored-copies.js';
import { MirroredParquet } from './s3/mirrored-parquet.js';
import { RemoteParquet } from './s3/remote-parquet.js';
import { S3Storage } from './s3/s3-storage.js';
import { storedTables } from './s3/stored-table.js';
import { listRoots } from './storage-roots.js';
import { JudgedBefore } from './tables/judged-before.js';
import { ParquetFiles } from './tables/parquet-files.js';
import { TableResolvers } from './tables/table-resolvers.js';

/** Brings the dialect LAKE to the datasources: its engines read the registry that this family keeps. */
@Injectable()
export class LakeDrivers extends FurtherDrivers {
  readonly #fileRoots: readonly string[];
  readonly #roots: FileRoots;
  readonly #mirror: Mirror;
  /** Of all lakes: the same files are the same to each. */
  readonly #judged = new JudgedBefore();

  constructor(
    private readonly db: Database,
    private readonly repository: LakeTableRepository,
    private readonly config: Configuration,
    private readonly egress: EgressPolicy,
  ) {
    super();
    this.#fileRoots = config.get('datapipelines.datasources.file-roots');
    this.#roots = new FileRoots(this.#fileRoots);
    this.#mirror = new Mirror(
      config.get('datapipelines.lake.cache-dir') ??
        join(config.get('datapipelines.staging.spill-directory'), 'penstock-lake-cache'),
      config.get('datapipelines.lake.mirror-max-bytes'),
    );
  }

  override drivers(shared: SharedEngineParts): readonly DialectDriver[] {
    return [
      lakeDriver(
        (options, login, context) => this.#source(options, login, context, shared),
        (datasource) => this.repository.all(this.db, datasource),
      ),
    ];
  }

  #source(options: LakeOptions, login: SourceLogin, context: DriverContext, shared: SharedEngineParts): LakeSource {
    const { datasource } = login;
    // Of this source alone: with another endpoint or credential the same addresses may show other objects.
    const place = randomUUID();
    const maxFiles = this.config.get('datapipelines.lake.max-files-per-table');
    const storage = new S3Storage(options, login, this.egress);
    const namesS3 =
      options.endpoint !== undefined || options.region !== undefined || options.unsigned || login.secret !== null;
    const copies = new MirroredCopies(storage, this.#mirror, {
      datasource,
      maxFiles,
      maxBytes: this.config.get('datapipelines.lake.mirror-max-bytes-per-table'),
    });
    const iceberg = {
      file: new IcebergTables(localTables(this.#roots), maxFiles),
      s3: new IcebergTables(storedTables(copies), maxFiles),
    };
    const httpfs = {
      mode: this.config.get('datapipelines.lake.s3-mode'),
      directory: this.config.get('datapipelines.duckdb.extension-directory'),
      allowInstall: this.config.get('datapipelines.duckdb.allow-extension-install'),
    };
    const resolverFor: EngineParts['resolverFor'] = async (engine) => {
      const remote = await openHttpfs(engine, httpfs, options, login, () => storage.machineIdentity());
      const s3 = remote ? new RemoteParquet(storage, { maxFiles }) : new MirroredParquet(copies, this.#judged);
      const finders = { parquet: { file: new ParquetFiles(this.#roots, maxFiles, this.#judged), s3 }, iceberg };
      return { resolver: new TableResolvers(finders), validUntil: remote ? remote.validUntil : undefined };
    };
    return new LakeSource(
      {
        refreshMs: this.config.get('datapipelines.lake.mirror-refresh-seconds') * 1000,
        parts: () => this.#parts(options, context, shared, { storage: place, resolverFor }),
        object: (bucket, key, most, signal) => storage.read(bucket, key, most, signal),
        listRoots: (tables, signal) => listRoots({ storage, namesS3, fileRoots: this.#fileRoots }, tables, signal),
      },
      {
        tables: () => this.repository.all(this.db, datasource),
        record: (outcomes) => this.repository.recordOutcomes(this.db, outcomes),
      },
    );
  }

  async #parts(
    { memoryMb, threads, temporaryDirectory, attachments }: LakeOptions,
    context: DriverContext,
    { calls }: SharedEngineParts,
    own: Pick<EngineParts, 'storage' | 'resolverFor'>,
  ): Promise<EngineParts> {
    return {
      calls,
      ...own,
      tableMs: this.config.get('datapipelines.lake.table-timeout-seconds') * 1000,
      memoryMb,
      threads: threads ?? Math.min(4, availableParallelism()),
      spillFolder:
        temporaryDirectory ?? join(this.config.get('datapipelines.staging.spill-directory'), 'penstock-lake'),
      attachments: await Promise.all(
        attachments.map(async ({ alias, file }) => ({ alias, file: await context.openableFile({ path: file }) })),
      ),
    };
  }
}
