export { readStoredDocument } from './document/stored-document.js';
export { pipelineSchema } from './schema/pipeline-schema.js';
export * from './document/pipeline-document.js';
export { executeInputs, type ExecuteInput } from './document/execute-inputs.js';
export type { DocumentWarning } from './document/notes.js';
export { bindParameters, bindTextParameters, type BoundParameters } from './binding/bind-parameters.js';
export { sampleValue } from './validation/dry-context.js';
export { ContextBuilder, encodeContext, type ExecutionFacts } from './binding/context-builder.js';
export { CalculatorScope } from './binding/calculator-scope.js';
export { contextReference, type SuppliedValue } from './composition/context-reference.js';
export { ReadOnlyPipelines, type ReadOnlyVerdict } from './read-only-pipeline.js';
export { PipelineCatalog, type RunnableVersion } from './pipeline-catalog.js';
export { PipelineAuthoring, type ValidationReport } from './pipeline-authoring.js';
export { PipelineReading, type PipelineLevel } from './pipeline-reading.js';
export { PipelineBatchReading, pipelineVersionKey, type PipelineVersionRef } from './pipeline-batch-reading.js';
export { PipelineLineage, type TemplateUser } from './pipeline-lineage.js';
export type { TemplateUpgrade } from './pipeline.repository.js';
export { PipelineLifecycle, type PurgeOptions, type PurgeReport, type ReleaseOptions } from './pipeline-lifecycle.js';
export { ExampleFile } from './transfer/example-file.js';
export { PipelineTransfer, type PipelineImportReport } from './transfer/pipeline-transfer.js';
export type { PipelineFile } from './transfer/pipeline-file.js';
export type { BatchEntry } from './transfer/batch-entry.js';
export { PipelineBatch, type BatchedPipeline, type JudgedBatch, type ReleaseBatch } from './transfer/pipeline-batch.js';
export { PipelineClosure, type ClosedRelease, type ReleaseClosure } from './transfer/pipeline-closure.js';
export type { CurrentVersion } from './pipeline.repository.js';
export type { PipelineFilter } from './pipeline-browse.repository.js';
export { definitionOf, type PipelineSummary, type PipelineView } from './pipeline-views.js';
export { ContentGate } from './content-gate.js';
export {
  ExecutionPurge,
  PublishedEndpointReferences,
  ReleaseGate,
  type FailedCheck,
  type GateSubject,
} from './ports.js';
export type { CheckDeclaration, Expectation } from './document/check-declaration.js';
export { pipelineNotFound } from './pipeline-reading.js';
export { PipelineDatasourceReferences, PipelineTemplatePins } from './pipeline-references.js';
export { PipelinesModule } from './pipelines.module.js';
