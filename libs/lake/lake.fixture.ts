import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { DuckDBInstance } from '@duckdb/node-api';

import { AuditLog } from '#libs/audit';
import { DatasourceService } from '#libs/datasources';
import { EgressPolicy, egressRules } from '#libs/egress';
import type { JsonObject } from '#libs/kernel';
import { MemoryTransientStore } from '#libs/transient';

import { createTestDatabase, type TestDatabase } from '../../test/fixtures/postgres.js';
import { DatasourceBench, People } from '../datasources/datasources.fixture.js';
export { refusal } from '../datasources/datasource-scene.fixture.js';
import { LakeAccess } from './lake-access.js';
import { LakeDrivers } from './lake-drivers.js';
import { DeclaredLakeTables } from './import/declared-lake-tables.js';
import { LakeImportService } from './import/lake-import.service.js';
import { Manifests } from './import/manifest.js';
import { LakeTablesService } from './lake-tables.service.js';
import { Preflight } from './preflight.js';
import { LakeTableRepository } from './registry/lake-table.repository.js';

/** One server process's lake, wired by hand over a shared database and store. */
export class LakeBench {
  readonly repository = new LakeTableRepository();
  readonly tables: LakeTablesService;
  readonly imports: LakeImportService;
  private constructor(readonly datasources: DatasourceBench) {
    const { db, service, access, pools, sources, slots } = datasources;
    const preflight = new Preflight(sources, slots);
    const lakeAccess = new LakeAccess(service, access);
    this.tables = new LakeTablesService(db.database, this.repository, lakeAccess, preflight, pools, new AuditLog());
    const manifests = new Manifests(datasources.config, new EgressPolicy(egressRules(datasources.config)), sources);
    this.imports = new LakeImportService(db.database, this.repository, lakeAccess, preflight, manifests, this.tables);
    const declared = new DeclaredLakeTables(db.database, this.repository, this.imports);
    datasources.declare = (...declaration) => declared.register(...declaration);
  }

  static async start(
    db: TestDatabase,
    store: MemoryTransientStore,
    environment: Record<string, string>,
  ): Promise<LakeBench> {
    const further = (database: TestDatabase['database'], config: DatasourceBench['config']): LakeDrivers =>
      new LakeDrivers(database, new LakeTableRepository(), config, new EgressPolicy(egressRules(config)));
    return new LakeBench(await DatasourceBench.start(db, store, environment, further));
  }

  get service(): DatasourceService {
    return this.datasources.service;
  }

  /** All rows of a query as a node would read them, cells as their vectors hold them. */
  async read(datasource: string, sql: string): Promise<unknown[][]> {
    const { signal } = new AbortController();
    const lease = await this.datasources.pools.lease(datasource, 'read', signal);
    let outcome: 'ok' | 'destroy' = 'destroy';
    try {
      const cursor = await lease.openCursor({ sql, values: [] }, { fetchSize: 1000, signal });
      const rows: unknown[][] = [];
      for (let batch = await cursor.next(signal); batch; batch = await cursor.next(signal)) {
        for (let row = 0; row < batch.rowCount; row += 1) {
          rows.push(
            batch.vectors.map((vector) =>
              vector.nulls[row] === 1 || vector.layout === 'null' ? null : (vector.data as ArrayLike<unknown>)[row],
            ),
          );
        }
      }
      await cursor.close();
      outcome = 'ok';
      return rows;
    } finally {
      await lease.release(outcome);
    }
  }

  stop(): Promise<void> {
    return this.datasources.stop();
  }
}

export interface LakeScene {
  db: TestDatabase;
  store: MemoryTransientStore;
  bench: LakeBench;
  team: People;
  others: People;
  /** A file root, with its real path. */
  folder: string;
  environment: Record<string, string>;
  /** Runs statements on an engine of the test's own, to make files. */
  make(...statements: string[]): Promise<void>;
  /** Rows of a query on that engine: the reference. */
  reference(sql: string): Promise<unknown[][]>;
  /** A second process on the same database and store. */
  another(): Promise<LakeBench>;
  registered(name: string, more?: JsonObject): Promise<void>;
}

/** A migrated database, one process, two workspaces and a folder of files. Call once per spec. */
export function lakeScene(environment: Record<string, string> = {}): LakeScene {
  const scene = { environment } as LakeScene;
  let files: DuckDBInstance;
  const extra: LakeBench[] = [];

  beforeAll(async () => {
    files = await DuckDBInstance.create(':memory:');
  });

  beforeEach(async () => {
    scene.folder = realpathSync(mkdtempSync(join(tmpdir(), 'penstock-lake-')));
    mkdirSync(join(scene.folder, 'roots'));
    scene.environment = {
      DATAPIPELINES_DATASOURCES_FILE_ROOTS: join(scene.folder, 'roots'),
      DATAPIPELINES_STAGING_SPILL_DIRECTORY: join(scene.folder, 'spill'),
      ...environment,
    };
    scene.db = await createTestDatabase();
    scene.store = new MemoryTransientStore({ maxBytes: 1_000_000 });
    scene.bench = await LakeBench.start(scene.db, scene.store, scene.environment);
    scene.team = await People.of(scene.db, 'team');
    scene.others = await People.of(scene.db, 'others');
  });

  afterEach(async () => {
    for (const bench of extra.splice(0)) await bench.stop();
    await scene.bench.stop();
    await scene.db.drop();
    rmSync(scene.folder, { recursive: true });
  });

  afterAll(() => files.closeSync());

  scene.make = async (...statements) => {
    const connection = await files.connect();
    for (const statement of statements) await connection.run(statement);
    connection.disconnectSync();
  };
  scene.reference = async (sql) => {
    const connection = await files.connect();
    const rows = await (await connection.run(sql)).getRows();
    connection.disconnectSync();
    return rows;
  };
  scene.another = async () => {
    const bench = await LakeBench.start(scene.db, scene.store, scene.environment);
    extra.push(bench);
    return bench;
  };
  scene.registered = async (name, more = {}) => {
    await scene.bench.service.create(scene.team.root, {
      name,
      display_name: 'Lake',
      dialect: 'LAKE',
      jdbc_url: 'jdbc:duckdb:',
      ...more,
    });
  };
  return scene;
}
