import { Module } from '@nestjs/common';

import { AuditModule } from '#libs/audit';
import { EgressModule } from '#libs/egress';
import { IdentityModule } from '#libs/identity';
import { Configuration, Logger } from '#libs/kernel';

import { DatasourceBootstrap } from './bootstrap/datasource-bootstrap.js';
import { ConnectionTest } from './connection-test.js';
import { KeyProvider, KeyRing } from './credentials/key-ring.js';
import { DatasourceAccess } from './datasource-access.js';
import { DatasourceGrants } from './datasource-grants.js';
import { DatasourceOwnership } from './datasource-ownership.js';
import { DatasourceRepository } from './datasource.repository.js';
import { DatasourceService } from './datasource.service.js';
import { FurtherDrivers } from './drivers/further-drivers.js';
import { NativeCallGate } from './drivers/duckdb/native-call-gate.js';
import { loadDrivers } from './drivers/load-drivers.js';
import { DriverRegistry } from './drivers/registry.js';
import { GrantRepository } from './grant.repository.js';
import { CatalogReader } from './introspection/catalog-reader.js';
import { IntrospectionService } from './introspection/introspection.service.js';
import { DatasourcePools } from './pool/datasource-pools.js';
import { AuthorAct } from './probe/author-act.js';
import { AuthorRead } from './probe/author-read.js';
import { BoundedProbe } from './probe/bounded-probe.js';
import { ProbeSlots } from './probe/probe-slots.js';
import { RowPreview } from './probe/row-preview.js';
import { SqlProbe } from './probe/sql-probe.js';
import { SourceFactory } from './source-factory.js';
import { TableStatistics } from './statistics/table-statistics.js';

/**
 * Registered datasources. Needs `Configuration`, `Database`, `Logger`, `TransientStore` and `InvalidationBus` of the infrastructure, and
 * the ports `DatasourceReferences` from the pipelines and `FurtherDrivers` from the lake.
 */
@Module({
  imports: [AuditModule, EgressModule, IdentityModule],
  providers: [
    AuthorAct,
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
    {
      provide: NativeCallGate,
      useFactory: (config: Configuration) => NativeCallGate.fromConfiguration(config),
      inject: [Configuration],
    },
    {
      provide: DriverRegistry,
      useFactory: async (config: Configuration, gate: NativeCallGate, logger: Logger, further: FurtherDrivers) => {
        const drivers = await loadDrivers(config, gate, further);
        for (const [dialect, reason] of drivers.unavailable) {
          logger.warn('datasource.driver_not_loaded', { dialect, reason });
        }
        return drivers;
      },
      inject: [Configuration, NativeCallGate, Logger, FurtherDrivers],
    },
  ],
  exports: [
    AuthorAct,
    AuthorRead,
    BoundedProbe,
    CatalogReader,
    DatasourceAccess,
    DatasourcePools,
    DatasourceService,
    DriverRegistry,
    IntrospectionService,
    NativeCallGate,
    ProbeSlots,
    RowPreview,
    SourceFactory,
    SqlProbe,
    TableStatistics,
  ],
})
export class DatasourcesModule {}
