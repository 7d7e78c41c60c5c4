export * from './pinned-template.js';
export * from './reflected.js';
export { TemplateCatalog, type TemplateLookup } from './template-catalog.js';
export type {
  DraftView,
  TemplateSummary,
  TemplateVersionSummary,
  TemplateView,
  VersionStamps,
} from './template-views.js';
export { versionedTransaction } from './versioned-transaction.js';
export { postureOf } from './posture.js';
export { TemplatePins, type TemplatePinReference, type TemplatePinReport } from './template-pins.js';
export { TemplateReleases, type UnreleasedPin } from './template-releases.js';
