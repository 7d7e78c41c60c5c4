import { AuditJournal, AuditLog, AuditObserver } from '#libs/audit';
import { EgressPolicy, egressRules } from '#libs/egress';
import {
  loadConfiguration,
  newId,
  SilentLogger,
  type Configuration,
  type Logger,
  type MemberFlags,
  type Principal,
  type Scope,
} from '#libs/kernel';
import type { SuperAdminReach, SystemActor, WorkspaceDirectory } from '#libs/identity';
import type { Database, Queryable } from '#libs/persistence';
import { InvalidationBus, type TransientStore } from '#libs/transient';

import type { TestDatabase } from '../../test/fixtures/postgres.js';
import { DatasourceBootstrap } from './bootstrap/datasource-bootstrap.js';
import { ConnectionTest } from './connection-test.js';
import { KeyRing } from './credentials/key-ring.js';
import { DatasourceAccess } from './datasource-access.js';
import { DatasourceGrants } from './datasource-grants.js';
import { DatasourceOwnership } from './datasource-ownership.js';
import { DatasourceReferences, type DatasourceReference } from './datasource-references.js';
import { DatasourceRepository } from './datasource.repository.js';
import { DatasourceService } from './datasource.service.js';
import { NativeCallGate } from './drivers/duckdb/native-call-gate.js';
import type { FurtherDrivers } from './drivers/further-drivers.js';
import { loadDrivers } from './drivers/load-drivers.js';
import type { DriverRegistry } from './drivers/registry.js';
import { GrantRepository } from './grant.repository.js';
import { CatalogReader } from './introspection/catalog-reader.js';
import { IntrospectionService } from './introspection/introspection.service.js';
import { DatasourcePools } from './pool/datasource-pools.js';
import { AuthorAct } from './probe/author-act.js';
import { AuthorRead } from './probe/author-read.js';
import { BoundedProbe } from './probe/bounded-probe.js';
import type { DeclaredTables } from './bootstrap/declared-tables.js';
import { ProbeSlots } from './probe/probe-slots.js';
import { RowPreview } from './probe/row-preview.js';
import { SqlProbe } from './probe/sql-probe.js';
import { SourceFactory } from './source-factory.js';
import { TableStatistics } from './statistics/table-statistics.js';

/** Who refers to what, as a test says. */
export class StatedReferences extends DatasourceReferences {
  readonly stated = new Map<string, { references: DatasourceReference[]; hidden: number }>();

  override references(_tx: Queryable, name: string): Promise<{ references: DatasourceReference[]; hidden: number }> {
    return Promise.resolve(this.stated.get(name) ?? { references: [], hidden: 0 });
  }
}

export const KEY_ONE = Buffer.alloc(32, 1).toString('base64');
export const KEY_TWO = Buffer.alloc(32, 2).toString('base64');

/** One server process's datasources, wired by hand on a shared database and store. */
export class DatasourceBench {
  readonly config: Configuration;
  readonly bus: InvalidationBus;
  readonly pools: DatasourcePools;
  readonly sources: SourceFactory;
  readonly service: DatasourceService;
  readonly catalogs: CatalogReader;
  readonly reads: AuthorRead;
  readonly introspection: IntrospectionService;
  readonly statistics: TableStatistics;
  readonly preview: RowPreview;
  readonly probe: SqlProbe;
  readonly access: DatasourceAccess;
  readonly bootstrap: DatasourceBootstrap;
  readonly references = new StatedReferences();
  readonly repository = new DatasourceRepository();
  readonly slots: ProbeSlots;
  /** What the lake above does; a spec of its own puts it here. */
  declare: DeclaredTables['register'] = () => Promise.resolve();

  private constructor(
    readonly db: TestDatabase,
    store: TransientStore,
    config: Configuration,
    drivers: DriverRegistry,
    logger: Logger,
  ) {
    this.config = config;
    const { database } = db;
    const audit = new AuditLog();
    const observer = new AuditObserver(new AuditJournal(database), logger);
    const grants = new GrantRepository();
    const keys = KeyRing.fromConfiguration(this.config);
    this.bus = new InvalidationBus(store, logger);
    const sources = (this.sources = new SourceFactory(
      database,
      this.repository,
      drivers,
      keys,
      new EgressPolicy(egressRules(this.config)),
      this.config,
    ));
    this.pools = new DatasourcePools(database, this.repository, sources, this.bus, observer, this.config, logger);
    // The super admins of the scene are members of nothing.
    const directory = { membershipsOf: () => Promise.resolve([]) } as unknown as WorkspaceDirectory;
    const reach = { into: () => Promise.resolve() } as unknown as SuperAdminReach;
    const ownership = new DatasourceOwnership(database, this.repository, grants, drivers, reach, this.config);
    const grantActs = new DatasourceGrants(database, this.repository, grants, audit, directory, reach);
    const test = new ConnectionTest(database, this.repository, drivers, sources, audit, ownership);
    this.service = new DatasourceService(
      database,
      this.repository,
      grants,
      ownership,
      grantActs,
      this.references,
      drivers,
      sources,
      keys,
      this.pools,
      test,
      audit,
    );
    this.catalogs = new CatalogReader(database, this.repository, this.pools, drivers, logger);
    this.introspection = new IntrospectionService(this.catalogs);
    this.statistics = new TableStatistics(this.catalogs);
    this.slots = new ProbeSlots(store, logger);
    this.reads = new AuthorRead(new BoundedProbe(this.pools, drivers), new AuthorAct(this.slots, observer));
    this.preview = new RowPreview(this.catalogs, this.reads);
    this.probe = new SqlProbe(this.catalogs, this.reads);
    this.access = new DatasourceAccess(database, this.repository, this.pools, drivers);
    const actor = { principal: () => systemPrincipal(database) } as unknown as SystemActor;
    this.bootstrap = new DatasourceBootstrap(
      database,
      this.repository,
      grants,
      this.service,
      test,
      this.pools,
      keys,
      actor,
      { register: (...declared) => this.declare(...declared) },
      this.config,
      logger,
    );
  }

  /** Subscribes before it serves, as a process does. */
  static async start(
    db: TestDatabase,
    store: TransientStore,
    environment: Record<string, string> = {},
    further?: (database: Database, config: Configuration) => FurtherDrivers,
    logger: Logger = new SilentLogger(),
  ): Promise<DatasourceBench> {
    const config = loadConfiguration({ ...BASE_ENVIRONMENT, DATABASE_URL: db.url, ...environment });
    const bench = new DatasourceBench(
      db,
      store,
      config,
      await loadDrivers(config, NativeCallGate.fromConfiguration(config), further?.(db.database, config)),
      logger,
    );
    await bench.bus.start();
    return bench;
  }

  async stop(): Promise<void> {
    await this.pools.close();
    await this.bus.stop();
  }
}

/** The server itself, with a row of its own. */
async function systemPrincipal(database: Database): Promise<Principal> {
  const [row] = await database.query<{ id: string }>(
    `INSERT INTO users (email, display_name, provider, provider_subject) VALUES ('system@system.invalid', 'System', 'system', 'system')
     ON CONFLICT DO NOTHING RETURNING id`,
  );
  const [found] = row ? [row] : await database.query<{ id: string }>(`SELECT id FROM users WHERE provider = 'system'`);
  return {
    userId: found?.id ?? '',
    email: 'system@system.invalid',
    displayName: 'System',
    method: 'system',
    surface: 'session',
    scopes: [],
    superAdmin: true,
    mustChangePassword: false,
    correlationId: newId(),
  };
}

const BASE_ENVIRONMENT: Record<string, string> = {
  REDIS_URL: 'redis://127.0.0.1:6379',
  DATAPIPELINES_MASTER_KEY: KEY_ONE,
  DATAPIPELINES_JWT_SECRET: KEY_TWO,
  DATAPIPELINES_AUTH_LOCAL_ENABLED: 'true',
};

/** A workspace with its people: an admin, an author, a viewer; and super admins, who need none. */
export class People {
  private constructor(
    private readonly db: TestDatabase,
    readonly workspaceId: string,
    readonly workspace: string,
    private readonly userId: string,
  ) {}

  static async of(db: TestDatabase, workspace: string): Promise<People> {
    const [id, userId] = [newId(), newId()];
    await db.database.execute('INSERT INTO workspaces (id, name, display_name) VALUES ($1, $2, $2)', [id, workspace]);
    await db.database.execute(
      `INSERT INTO users (id, email, display_name, provider, provider_subject) VALUES ($1, $2, $2, 'local', $2)`,
      [userId, `${userId}@example.org`],
    );
    return new People(db, id, workspace, userId);
  }

  #in(flags: Partial<MemberFlags>, more: Partial<Principal> = {}): Principal {
    return {
      userId: this.userId,
      email: 'someone@example.org',
      displayName: 'Someone',
      method: 'session',
      surface: 'session',
      scopes: [],
      superAdmin: false,
      mustChangePassword: false,
      correlationId: newId(),
      workspace: {
        id: this.workspaceId,
        name: this.workspace,
        flags: { author: false, promoter: false, admin: false, ...flags },
        superAdmin: false,
        implicit: false,
      },
      ...more,
    };
  }

  get admin(): Principal {
    return this.#in({ admin: true, author: true });
  }

  get author(): Principal {
    return this.#in({ author: true });
  }

  get viewer(): Principal {
    return this.#in({});
  }

  /** A user key of the admin's. */
  key(scope: Scope): Principal {
    return { ...this.admin, method: 'api_key', surface: 'api_key', keyId: newId(), keyKind: 'user', scopes: [scope] };
  }

  /** A super admin in a session, acting in this workspace without a membership. */
  get root(): Principal {
    const acting = {
      id: this.workspaceId,
      name: this.workspace,
      flags: { author: false, promoter: false, admin: false },
    };
    return this.#in({}, { superAdmin: true, workspace: { ...acting, superAdmin: true, implicit: true } });
  }

  /** Audit rows about datasources, newest last: event and details. */
  async audit(): Promise<[string, Record<string, unknown>][]> {
    const rows = await this.db.database.query<{ event: string; details_json: string }>(
      `SELECT event, details_json FROM audit_log WHERE event LIKE 'datasource.%' ORDER BY timestamp, id`,
    );
    return rows.map(({ event, details_json }) => [event, JSON.parse(details_json) as Record<string, unknown>]);
  }
}
