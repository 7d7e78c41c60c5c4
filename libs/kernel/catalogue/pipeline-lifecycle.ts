import type { CatalogueEntry } from './entry.js';

/** Versions, release, checks, import and promotion of pipelines (contracts 01 §9, §10; 05 §10–§13, §15). */
export const pipelineLifecycleCodes = {
  'pipeline.version.conflict': {
    status: 409,
    title: 'The version was changed by somebody else in the meantime.',
    fix: 'Read it again, merge your change into the current body and repeat with the new body hash.',
  },
  'pipeline.version.not_draft': {
    status: 409,
    title: 'The operation needs a draft, and this version is none.',
    fix: 'Open a draft first, or address the draft version.',
  },
  'pipeline.version.not_released': {
    status: 409,
    title: 'The operation needs a released version, and this one is not.',
    fix: 'Release the version first, or address a released one.',
  },
  'pipeline.version.not_discarded': {
    status: 409,
    title: 'Only a discarded version can be restored, and this one is not discarded.',
    fix: 'Nothing needs restoring; read the version again to see its status.',
  },
  'pipeline.version.last_release': {
    status: 409,
    title: 'The version was released once and cannot be purged.',
    fix: 'Discard it instead: a release stays on record; only drafts are purged.',
  },
  'pipeline.version.not_eligible': {
    status: 409,
    title: 'The version cannot become the current one.',
    fix: 'Choose a released version, or a draft where authoring is enabled.',
  },
  'pipeline.version.pinned': {
    status: 409,
    title: 'The version is in use elsewhere.',
    fix: 'Move the users listed in the details to another version first.',
  },
  'pipeline.version.confirm_mismatch': {
    status: 400,
    title: 'The confirmation does not match the name.',
    fix: 'Repeat the call with the exact name as confirmation.',
  },
  'pipeline.authoring.disabled': {
    status: 403,
    title: 'This deployment does not allow authoring.',
    fix: 'Author on the development deployment and promote the release to this one.',
  },
  'pipeline.release.template_not_released': {
    status: 409,
    title: 'The pipeline pins templates that are not released.',
    fix: 'Release the templates in the details first, or release them with the pipeline: "?release_pinned_templates=true" (GraphQL: releasePinnedTemplates).',
  },
  'pipeline.check.failed': {
    status: 409,
    title: 'A release check failed.',
    fix: 'Look at the failed checks in the details, mend the pipeline or its data, and release again.',
  },
  'pipeline.import.version_conflict': {
    status: 409,
    title: 'The imported version exists here with another body.',
    fix: 'Import it as a new version, or remove the differing version here.',
  },
  'pipeline.import.context_key_missing': {
    status: 409,
    title: 'The imported body uses an organisation value this deployment does not configure.',
    fix: 'Configure the "org.*" value named in the details, then import again.',
  },
  'pipeline.import.missing_datasource': {
    status: 400,
    title: 'The imported body needs a datasource that is not registered here.',
    fix: 'Register the datasources named in the details, then import again.',
  },
  'pipeline.import.missing_template': {
    status: 400,
    title: 'The import needs a template that is neither in the file nor registered here.',
    fix: 'Export again with the templates included, or import those first.',
  },
  'pipeline.import.hash_mismatch': {
    status: 400,
    title: 'The content of the import file does not match its recorded hash.',
    fix: 'The file was changed or damaged; export it again.',
  },
  'pipeline.promotion.not_released': {
    status: 409,
    title: 'Only a released version can be promoted.',
    fix: 'Release the version first.',
  },
  'pipeline.promotion.not_newer': {
    status: 409,
    title: 'The target already has this version or a newer one.',
    fix: 'Promote a newer version; nothing needs to be done for this one.',
  },
  'pipeline.promotion.missing_datasources': {
    status: 409,
    title: 'The target lacks datasources the pipeline needs.',
    fix: 'Register the datasources named in the details on the target.',
  },
  'pipeline.promotion.target_is_authoring': {
    status: 409,
    title: 'The target is itself an authoring deployment and accepts no promotion.',
    fix: 'Promote to a deployment with authoring disabled.',
  },
  'pipeline.promotion.target_unreachable': {
    status: 502,
    title: 'The promotion target did not answer.',
    fix: 'Check the address and state of the target, then promote again.',
  },
  'pipeline.warning.unknown_field': {
    status: null,
    title: 'The document contained a field nobody reads; it was dropped.',
    fix: 'Correct the spelling of the field at the path given, or remove it.',
  },
  'pipeline.warning.tempdb_engine_substituted': {
    status: null,
    title: 'The staging engine named is not available here; the built-in one is used.',
    fix: 'Set the engine to "DUCKDB", or remove the setting.',
  },
} satisfies Record<string, CatalogueEntry>;
