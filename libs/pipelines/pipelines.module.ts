import { Module } from '@nestjs/common';
import { AuditModule } from '#libs/audit';
import { DatasourcesModule } from '#libs/datasources';
import { IdentityModule } from '#libs/identity';
import { TemplatesModule } from '#libs/templates';
import { ContextBuilder } from './binding/context-builder.js';
import { CompositionValidation } from './composition/composition-validation.js';
import { PinnedPipelines } from './composition/pinned-pipelines.js';
import { PipelinePinGuard } from './composition/pipeline-pin-guard.js';
import { ContentGate } from './content-gate.js';
import { PipelineBatchReading } from './pipeline-batch-reading.js';
import { PipelineAuthoring } from './pipeline-authoring.js';
import { PipelineBrowseRepository } from './pipeline-browse.repository.js';
import { PipelineCatalog } from './pipeline-catalog.js';
import { PipelineLineage } from './pipeline-lineage.js';
import { PipelineLifecycle } from './pipeline-lifecycle.js';
import { PipelineReading } from './pipeline-reading.js';
import { PipelineDatasourceReferences, PipelineTemplatePins } from './pipeline-references.js';
import { PipelineRepository } from './pipeline.repository.js';
import { ExampleFile } from './transfer/example-file.js';
import { PipelineBatch } from './transfer/pipeline-batch.js';
import { PipelineClosure } from './transfer/pipeline-closure.js';
import { PipelineTransfer } from './transfer/pipeline-transfer.js';
import { ReleasePlacement } from './transfer/release-placement.js';
import { ReadOnlyPipelines } from './read-only-pipeline.js';
import { DocumentValidation } from './validation/document-validation.js';
import { DryRender } from './validation/dry-render.js';
import { DuckDbStatementParser } from './validation/duckdb-statement-parser.js';
import { ReferenceGuard } from './validation/reference-guard.js';
import { EngineStatementParser } from './validation/statement-parser.js';

const faces = [
  PipelineAuthoring,
  PipelineReading,
  PipelineBatchReading,
  PipelineLineage,
  PipelineLifecycle,
  PipelineCatalog,
  PipelineTransfer,
  PipelineBatch,
  PipelineClosure,
  ExampleFile,
  ContextBuilder,
  ContentGate,
  PipelineDatasourceReferences,
  PipelineTemplatePins,
  ReadOnlyPipelines,
];

/**
 * Pipelines and their versions. Needs `Database`, `Configuration` and `Clock` of the infrastructure and the ports
 * `ExecutionPurge` and `PublishedEndpointReferences` from the wiring.
 */
@Module({
  imports: [AuditModule, DatasourcesModule, IdentityModule, TemplatesModule],
  providers: [
    ...faces,
    PipelineRepository,
    PipelineBrowseRepository,
    DocumentValidation,
    DryRender,
    ReleasePlacement,
    ReferenceGuard,
    CompositionValidation,
    PinnedPipelines,
    PipelinePinGuard,
    { provide: EngineStatementParser, useClass: DuckDbStatementParser },
  ],
  exports: faces,
})
export class PipelinesModule {}
