export { SemanticsModule } from './semantics.module.js';
export { SemanticsService } from './semantics.service.js';
export {
  AnnotatedCatalog,
  type AnnotatedColumnView,
  type AnnotatedDatasourceView,
  type AnnotatedTableView,
  type FactsOf,
} from './inline/annotated-catalog.js';
export { factCursor, FactListing, type FactQuery } from './fact-listing.js';
export { FactStanding } from './fact-standing.js';
export { FactRecording } from './recording/fact-recording.js';
export { storedDrift, type FactView, type InlineFactView, type ServedFact } from './fact-view.js';
export { FACT_KINDS, FACT_SCOPES, type FactRef, type FactScope, type LearnedFact } from './learned-fact.js';
export { FACT_TRUSTS, type FactTrust } from './rules/fact-trust.js';
