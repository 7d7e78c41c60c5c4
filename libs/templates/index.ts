export * from './pinned-template.js';
export * from './reflected.js';
export { TemplateCatalog, type HeldVersion, type TemplateLookup } from './template-catalog.js';
export { TemplateAuthoring, type TemplateReport } from './template-authoring.js';
export { TemplateReading, type TemplateLevel, type TemplateUse } from './template-reading.js';
export { TemplateBatchReading } from './template-batch-reading.js';
export { TemplateLifecycle } from './template-lifecycle.js';
export { TemplatePreview, type BoundPreview, type PreviewRequest, type PreviewResult } from './template-preview.js';
export { TemplateReleases, type UnreleasedPin } from './template-releases.js';
export {
  offeredTemplates,
  TemplateTransfer,
  type ImportedTemplate,
  type StoreOptions,
  type TemplateImportReport,
} from './transfer/template-transfer.js';
export type { ReadTemplateFile, TemplateFile } from './transfer/template-file.js';
export { ExclusiveDrafts } from './exclusive-drafts.js';
export { TemplatePins, type TemplatePinReference, type TemplatePinReport, type WorkingPin } from './template-pins.js';
export type { CurrentTemplate } from './template.repository.js';
export type { TemplateFilter } from './template-browse.repository.js';
export type { TemplateBody } from './template-fields.js';
export type { TemplateSummary, TemplateVersionSummary, TemplateView } from './template-views.js';
export { TemplateRenderer, type RenderValues } from './rendering/template-renderer.js';
export type { WorkerScript } from './rendering/render-workers.js';
export type { InterpolatedParameter } from './rendering/render-task.js';
export { renderDetails, saveFailure, type RenderFailure } from './render-failure.js';
export { versionedTransaction } from './versioned-transaction.js';
export { postureOf } from './posture.js';
export { TemplatesModule } from './templates.module.js';
