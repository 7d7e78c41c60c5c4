import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { ChecksModule, ReleaseCheckGate } from '#libs/checks';
import { DatasourceReferences, DatasourcesModule, DeclaredTables, FurtherDrivers } from '#libs/datasources';
import { EndpointKeyBindingWriter, EndpointReferences, EndpointsModule } from '#libs/endpoints';
import { PurgeExecutions, ExecutionsModule } from '#libs/executions';
import { IdentityModule, KeyBindingWriter } from '#libs/identity';
import { DeclaredLakeTables, LakeDrivers, LakeEngineModule, LakeModule } from '#libs/lake';
import {
  ExecutionPurge,
  PipelineDatasourceReferences,
  PipelinesModule,
  PipelineTemplatePins,
  PublishedEndpointReferences,
  ReleaseGate,
} from '#libs/pipelines';
import { PromotionModule } from '#libs/promotion';
import { SemanticsModule } from '#libs/semantics';
import { TemplatePins, TemplatesModule } from '#libs/templates';
import { WorkspacesModule } from '#libs/workspaces';

/** Every family, whichever door stands above it. */
export const FAMILIES = [
  IdentityModule,
  WorkspacesModule,
  LakeEngineModule,
  DatasourcesModule,
  SemanticsModule,
  LakeModule,
  TemplatesModule,
  PipelinesModule,
  ChecksModule,
  ExecutionsModule,
  EndpointsModule,
  PromotionModule,
];

/** The stores and the process's own parts, visible to every family. */
@Module({})
export class InfrastructureModule {
  static with(providers: Provider[]): DynamicModule {
    return {
      module: InfrastructureModule,
      global: true,
      providers,
      exports: providers.map((provider) => ('provide' in provider ? provider.provide : provider)),
    };
  }
}

/** Where a lower family asks a higher one: each port is bound to the family that answers it. */
@Module({})
export class WiringModule {
  static create(): DynamicModule {
    const ports: Provider[] = [
      { provide: KeyBindingWriter, useExisting: EndpointKeyBindingWriter },
      { provide: DatasourceReferences, useExisting: PipelineDatasourceReferences },
      { provide: FurtherDrivers, useExisting: LakeDrivers },
      { provide: DeclaredTables, useExisting: DeclaredLakeTables },
      { provide: TemplatePins, useExisting: PipelineTemplatePins },
      { provide: ExecutionPurge, useExisting: PurgeExecutions },
      { provide: PublishedEndpointReferences, useExisting: EndpointReferences },
      { provide: ReleaseGate, useExisting: ReleaseCheckGate },
    ];
    return {
      module: WiringModule,
      global: true,
      imports: FAMILIES,
      providers: ports,
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
  }
}
