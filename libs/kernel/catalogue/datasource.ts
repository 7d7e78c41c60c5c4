import type { CatalogueEntry } from './entry.js';

/** Datasources, lake tables, learned semantics, agent documents (contract 06 §14). */
export const datasourceCodes = {
  'datasource.validation.name_invalid': {
    status: 400,
    title: 'The datasource name breaks the naming rules.',
    fix: 'Use lower-case letters, digits, "_" and "-", 63 characters at most; a name never changes.',
  },
  'datasource.validation.duplicate_name': {
    status: 409,
    title: 'Another datasource already has this name.',
    fix: 'Choose another name.',
  },
  'datasource.validation.dialect_invalid': {
    status: 400,
    title: 'The dialect is unknown, or does not match the URL.',
    fix: 'Use one of the dialects listed in the details.',
  },
  'datasource.validation.jdbc_url_malformed': {
    status: 400,
    title: 'The connection URL cannot be read.',
    fix: 'Write it in the form the dialect expects; the details show the form.',
  },
  'datasource.validation.jdbc_url_scheme_invalid': {
    status: 400,
    title: 'The connection URL is for another kind of database.',
    fix: 'Use the URL scheme of the chosen dialect.',
  },
  'datasource.validation.password_missing': {
    status: 400,
    title: 'The datasource needs a password.',
    fix: 'Give the password in its own field, never in the URL.',
  },
  'datasource.validation.properties_invalid': {
    status: 400,
    title: 'A connection property is unknown, not allowed, or out of range.',
    fix: 'Correct or remove the property named in the details.',
  },
  'datasource.validation.property_empty': {
    status: 400,
    title: 'A property that needs a value is empty.',
    fix: 'Give the field named in the details a value, or leave it out.',
  },
  'datasource.validation.query_timeout_invalid': {
    status: 400,
    title: 'The query timeout of the datasource is out of range.',
    fix: 'Use whole seconds within the bounds given in the details.',
  },
  'datasource.validation.workspace_forbidden': {
    status: 400,
    title: 'The datasource cannot belong to or be granted to this workspace.',
    fix: 'Choose an active workspace you administer.',
  },
  'datasource.validation.host_forbidden': {
    status: 400,
    title: 'This server does not connect to that address.',
    fix: 'Use another host; the operator can see the rule in the details and change the egress configuration.',
  },
  'datasource.validation.lake_dialect_required': {
    status: 400,
    title: 'Lake tables belong to a datasource of dialect LAKE only.',
    fix: 'Choose or register a LAKE datasource.',
  },
  'datasource.validation.lake_namespace_invalid': {
    status: 400,
    title: 'The namespace of the lake table breaks the naming rules.',
    fix: 'Use 1 to 9 segments of lower-case letters, digits, "_" and "-", each starting with a letter or digit.',
  },
  'datasource.validation.lake_name_invalid': {
    status: 400,
    title: 'The name of the lake table breaks the naming rules.',
    fix: 'Use lower-case letters, digits, "_" and "-", starting with a letter or digit; 64 characters at most.',
  },
  'datasource.validation.lake_format_invalid': {
    status: 400,
    title: 'The format of the lake table is unknown.',
    fix: 'Use one of the formats listed in the details.',
  },
  'datasource.validation.lake_location_invalid': {
    status: 400,
    title: 'The location of the lake table is not acceptable.',
    fix: 'Use a location inside the root of the datasource, in a form the details describe.',
  },
  'datasource.validation.lake_manifest_url_forbidden': {
    status: 400,
    title: 'The manifest cannot be fetched from that address.',
    fix: 'Use an address the egress rules of this server allow.',
  },
  'datasource.validation.lake_table_unreadable': {
    status: 400,
    title: 'The files of the lake table cannot be read.',
    fix: 'Check the location, the format and the credentials of the datasource.',
  },
  'datasource.driver_not_loaded': {
    status: 400,
    title: 'The driver of this dialect is not installed.',
    fix: 'Ask the operator to install the driver package named in the details.',
  },
  'datasource.not_found': {
    status: 404,
    title: 'There is no such datasource that you can see.',
    fix: 'Check the name and the workspace you act in.',
  },
  'datasource.grant_required': {
    status: 404,
    title: 'The datasource is not granted to this workspace.',
    fix: 'Ask its owner for a grant to this workspace.',
  },
  'datasource.table_not_found': {
    status: 404,
    title: 'The datasource has no such table.',
    fix: 'Check the name; the details may suggest a similar one.',
  },
  'datasource.lake_table_not_found': {
    status: 404,
    title: 'There is no such lake table.',
    fix: 'Check the namespace and the name.',
  },
  'datasource.in_use': {
    status: 409,
    title: 'The datasource is used by pipelines.',
    fix: 'Change or discard the pipelines listed in the details first.',
  },
  'datasource.lake_table_duplicate': {
    status: 409,
    title: 'A lake table of this namespace and name exists already.',
    fix: 'Choose another name, or change the existing table.',
  },
  'datasource.table_forbidden': {
    status: 403,
    title: 'This table may not be read.',
    fix: 'Ask the owner of the datasource to open the table.',
  },
  'datasource.lake.table_unavailable': {
    status: 502,
    title: 'The files of the lake table cannot be reached now.',
    fix: 'Check the storage and its credentials; the last error is in the details.',
  },
  'datasource.lease_in_transaction': {
    status: 500,
    title: 'A customer connection was asked for inside a metadata transaction.',
    fix: 'This is a fault of the server; report the correlation id.',
  },
  'semantics.kind_invalid': {
    status: 400,
    title: 'The kind of the fact is unknown.',
    fix: 'Use one of the kinds listed in the details.',
  },
  'semantics.fact_invalid': {
    status: 400,
    title: 'The fact is not well-formed.',
    fix: 'Correct the field named in the details.',
  },
  'semantics.ref_unresolved': {
    status: 400,
    title: 'The fact refers to a table or column that does not exist.',
    fix: 'Correct the reference named in the details.',
  },
  'semantics.ref_mismatch': {
    status: 400,
    title: 'The text of the fact names something its references do not.',
    fix: 'Use the name suggested in the details, or add the reference.',
  },
  'semantics.evidence_refused': {
    status: 400,
    title: 'The evidence query is not a plain read.',
    fix: 'Give one SELECT that reads the tables of the fact.',
  },
  'semantics.evidence_failed': {
    status: 400,
    title: 'The evidence query failed or does not support the fact.',
    fix: 'Correct the query or the fact; the reason is in the details.',
  },
  'semantics.duplicate': {
    status: 409,
    title: 'The same fact is recorded already.',
    fix: 'Verify or retire the fact named in the details instead.',
  },
  'semantics.too_many_facts': {
    status: 409,
    title: 'The workspace holds as many facts about the datasource as it may.',
    fix: 'Retire facts that no longer help, or supersede one of them with the new one.',
  },
  'semantics.not_found': {
    status: 404,
    title: 'There is no such fact that you can see.',
    fix: 'Check the id and the workspace you act in.',
  },
  'mcp.doc_not_found': {
    status: 404,
    title: 'There is no such document.',
    fix: 'Use one of the documents listed in the details.',
  },
} satisfies Record<string, CatalogueEntry>;
