import { join } from 'node:path';

import { Module } from '@nestjs/common';

import { AuditModule } from '#libs/audit';
import { EgressModule } from '#libs/egress';
import { IdentityModule } from '#libs/identity';
import { Configuration } from '#libs/kernel';

import { DatasourceBootstrap } from './bootstrap/datasource-bootstrap.js';
import { ConnectionTest } from './connection-test.js';
import { KeyProvider, KeyRing } from './credentials/key-ring.js';
import { DatasourceAccess } from './datasource-access.js';
import { DatasourceGrants } from './datasource-grants.js';
import { DatasourceOwnership } from './datasource-ownership.js';
import { DatasourceRepository } from './datasource.repository.js';
import { DatasourceService } from './datasource.service.js';
import { duckdbDriver } from './drivers/duckdb/duckdb.driver.js';
import { DuckdbInstances } from './drivers/duckdb/instances.js';
import { NativeCalls } from './drivers/duckdb/native-calls.js';
import { h2Driver } from './drivers/h2/h2.driver.js';
import { mysqlDriver } from './drivers/mysql/mysql.driver.js';
import { postgresDriver } from './drivers/postgres/postgres.driver.js';
import { FurtherDrivers } from './drivers/further-drivers.js';
import { DriverRegistry } from './drivers/registry.js';
import { sqliteDriver } from './drivers/sqlite/sqlite.driver.js';
import { GrantRepository } from './grant.repository.js';
import { CatalogReader } from './introspection/catalog-reader.js';
import { IntrospectionService } from './introspection/introspection.service.js';
import { DatasourcePools } from './pool/datasource-pools.js';
import { AuthorRead } from './probe/author-read.js';
import { BoundedProbe } from './probe/bounded-probe.js';
import { ProbeSlots } from './probe/probe-slots.js';
import { RowPreview } from './probe/row-preview.js';
import { SqlProbe } from './probe/sql-probe.js';
import { SourceFactory } from './source-factory.js';
import { TableStatistics } from './statistics/table-statistics.js';

/** Share of the process's native calls that reading DuckDB datasources may take beside the staging engines. */
const NATIVE_CALL_SHARE = 1 / 3;

export function loadDrivers(config: Configuration, further?: FurtherDrivers): DriverRegistry {
  const instances = new DuckdbInstances({
    memoryMb: config.get('datapipelines.staging.max-memory-mb'),
    threads: config.get('datapipelines.staging.threads'),
    temporaryDirectory: join(config.get('datapipelines.staging.spill-directory'), 'penstock-datasources'),
  });
  const calls = new NativeCalls(
    Math.max(1, Math.floor(config.get('datapipelines.staging.max-concurrent-calls') * NATIVE_CALL_SHARE)),
  );
  return new DriverRegistry([
    postgresDriver,
    mysqlDriver,
    h2Driver,
    sqliteDriver,
    duckdbDriver(instances, calls),
    ...(further?.drivers({ calls }) ?? []),
  ]);
}

/**
 * Registered datasources. Needs `Configuration`, `Database`, `Logger`, `TransientStore` and `InvalidationBus` of the infrastructure, and
 * the ports `DatasourceReferences` from the pipelines and `FurtherDrivers` from the lake.
 */
@Module({
  imports: [AuditModule, EgressModule, IdentityModule],
  providers: [
    AuthorRead,
    BoundedProbe,
    CatalogReader,
    ConnectionTest,
    DatasourceAccess,
    DatasourceBootstrap,
    DatasourceGrants,
    DatasourceOwnership,
    DatasourcePools,
    DatasourceRepository,
    DatasourceService,
    GrantRepository,
    IntrospectionService,
    ProbeSlots,
    RowPreview,
    SourceFactory,
    SqlProbe,
    TableStatistics,
    {
      provide: KeyProvider,
      useFactory: (config: Configuration) => KeyRing.fromConfiguration(config),
      inject: [Configuration],
    },
    { provide: DriverRegistry, useFactory: loadDrivers, inject: [Configuration, FurtherDrivers] },
  ],
  exports: [
    AuthorRead,
    BoundedProbe,
    CatalogReader,
    DatasourceAccess,
    DatasourcePools,
    DatasourceService,
    DriverRegistry,
    IntrospectionService,
    RowPreview,
    SourceFactory,
    SqlProbe,
    TableStatistics,
  ],
})
export class DatasourcesModule {}
