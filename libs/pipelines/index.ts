export * from './document/pipeline-document.js';
export { bindParameters, bindTextParameters, type BoundParameters } from './binding/bind-parameters.js';
export { PipelineCatalog, type RunnableVersion } from './pipeline-catalog.js';
export { isReadOnlyPipeline, type ReadOnlyVerdict } from './read-only-pipeline.js';
