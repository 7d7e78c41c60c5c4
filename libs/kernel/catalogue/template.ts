import type { CatalogueEntry } from './entry.js';

/** Templates and their versions (contracts 05 §1–§8, §15; 03 §10). */
export const templateCodes = {
  'template.not_found': {
    status: 404,
    title: 'There is no such template or template version that you can see.',
    fix: 'Check the id, the version and the workspace you act in.',
  },
  'template.in_use': {
    status: 409,
    title: 'The template is used elsewhere.',
    fix: 'Move the users listed in the details to another template or version first.',
  },
  'template.validation.duplicate_name': {
    status: 409,
    title: 'Another template of this workspace already has this id.',
    fix: 'Choose another id, or open the existing template and change that one.',
  },
  'template.validation.syntax_error': {
    status: 400,
    title: 'The template does not follow the template language.',
    fix: 'Correct the template at the line and column in the details.',
  },
  'template.validation.dangerous_construct': {
    status: 400,
    title: 'The template uses a construct that is not allowed.',
    fix: 'Remove the construct named in the details; the template reference lists what may be used.',
  },
  'template.validation.id_invalid': {
    status: 400,
    title: 'The template id is not a valid folder path.',
    fix: 'Use 2 to 10 segments joined by "/", each of lower-case letters, digits, "_", "-" and "." and starting with a letter or digit; 200 characters at most. An id never changes.',
  },
  'template.validation.new_root_requires_confirmation': {
    status: 400,
    title: 'The id would open a new top-level folder.',
    fix: 'Use one of the existing root folders listed in the details, or repeat the call with "confirm_new_root": true.',
  },
  'template.validation.dialect_invalid': {
    status: 400,
    title: 'The SQL dialect is unknown or missing.',
    fix: 'Use one of the dialects listed in the details.',
  },
  'template.validation.dialect_not_allowed': {
    status: 400,
    title: 'A template of this type has no dialect.',
    fix: 'Remove "dialect"; only templates of type "sql" have one.',
  },
  'template.validation.type_invalid': {
    status: 400,
    title: 'The template type is unknown.',
    fix: 'Use the type "sql" or leave it out.',
  },
  'template.validation.type_immutable': {
    status: 400,
    title: 'The type of a template cannot be changed.',
    fix: 'Create a new template of the wanted type.',
  },
  'template.validation.html_entity': {
    status: 400,
    title: 'The template contains HTML entities, as text copied from a web page does.',
    fix: 'Write the plain characters (<, >, &, quotes) instead of the entities in the details.',
  },
  'template.validation.engine_unsupported': {
    status: 400,
    title: 'The template engine is not supported.',
    fix: 'Use "freemarker" or leave the engine out.',
  },
  'template.validation.schema_version_unsupported': {
    status: 400,
    title: 'The template declares a schema version this server does not read.',
    fix: 'Set "schema_version" to 1 or leave it out.',
  },
  'template.validation.is_library_without_macros': {
    status: 400,
    title: 'A template marked as a library must hold definitions only.',
    fix: 'Define at least one macro or function and remove text outside of them, or clear the library mark.',
  },
  'template.validation.import_not_found': {
    status: 400,
    title: 'An imported library version does not exist.',
    fix: 'Correct the id and version of the import.',
  },
  'template.validation.import_not_library': {
    status: 400,
    title: 'An imported template is not a library.',
    fix: 'Import templates that are marked as libraries only.',
  },
  'template.validation.import_cycle': {
    status: 400,
    title: 'Libraries import each other in a circle.',
    fix: 'Remove one import of the circle shown in the details.',
  },
  'template.validation.import_depth_exceeded': {
    status: 400,
    title: 'Libraries import each other more levels deep than allowed.',
    fix: 'Flatten the imports to the depth given in the details.',
  },
  'template.validation.duplicate_alias': {
    status: 400,
    title: 'Two imports have the same alias.',
    fix: 'Give every import an alias of its own.',
  },
  'template.validation.parameter_interpolated': {
    status: 400,
    title: 'A caller value would become part of the SQL text.',
    fix: 'Bind the value as ":name" instead of writing "${name}".',
  },
  'template.version.conflict': {
    status: 409,
    title: 'The version was changed by somebody else in the meantime.',
    fix: 'Read it again, merge your change into the current body and repeat with the new body hash.',
  },
  'template.version.not_draft': {
    status: 409,
    title: 'The operation needs a draft, and this version is none.',
    fix: 'Open a draft first, or address the draft version.',
  },
  'template.version.not_released': {
    status: 409,
    title: 'The operation needs a released version, and this one is not.',
    fix: 'Release the version first, or address a released one.',
  },
  'template.version.not_discarded': {
    status: 409,
    title: 'Only a discarded version can be restored, and this one is not discarded.',
    fix: 'Nothing needs restoring; read the version again to see its status.',
  },
  'template.version.last_release': {
    status: 409,
    title: 'The version was released once and cannot be purged.',
    fix: 'Discard it instead: a release stays on record; only drafts are purged.',
  },
  'template.version.not_eligible': {
    status: 409,
    title: 'The version cannot become the current one.',
    fix: 'Choose a released version, or a draft where authoring is enabled.',
  },
  'template.version.confirm_mismatch': {
    status: 400,
    title: 'The confirmation does not match the id.',
    fix: 'Repeat the call with the exact id as confirmation.',
  },
  'template.authoring.disabled': {
    status: 403,
    title: 'This deployment does not allow authoring.',
    fix: 'Author on the development deployment and promote the release to this one.',
  },
  'template.release.import_not_released': {
    status: 409,
    title: 'The template imports libraries that are not released.',
    fix: 'Release the libraries listed in the details first.',
  },
} satisfies Record<string, CatalogueEntry>;
