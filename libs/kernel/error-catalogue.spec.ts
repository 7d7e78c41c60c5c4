import { describe, it, expect } from '@jest/globals';
import { CATALOGUE_SECTIONS, catalogue, catalogueEntry, type ErrorCode } from './error-catalogue.js';

/** `codes('a.', 'x y')` → a.x, a.y */
function codes(prefix: string, names: string): string[] {
  return names.split(/\s+/).map((name) => `${prefix}${name}`);
}

/** The codes as the contracts list them, typed by hand; null = recorded or a warning. */
const EXPECTED: [source: string, status: number | null, codes: string[]][] = [
  // 03 §10, pipeline.validation.
  [
    '03 §10',
    400,
    codes(
      'pipeline.validation.',
      'schema_version_unsupported name_invalid new_root_requires_confirmation duplicate_node_id duplicate_output_table invalid_identifier reserved_identifier forbidden_env_specific_value dangling_dependency cycle_detected empty_pipeline multiple_caller_nodes non_dql_caller_target type_invalid dml_has_output ddl_has_output output_target_invalid output_table_missing output_datasource_missing output_mode_invalid unknown_datasource datasource_readonly template_not_found template_version_not_found template_dialect_mismatch template_type_mismatch template_parameter_undeclared template_render_failed parameter_type_invalid parameter_name_invalid parameter_precision_missing parameter_scale_missing conflicting_required_default default_type_mismatch tempdb_engine_unsupported tempdb_config_invalid node_timeout_invalid composition_too_deep pipeline_too_large pipeline_not_found pipeline_version_not_found pipeline_reference_not_released pipeline_reference_deleted pipeline_self_reference pipeline_node_has_source pipeline_node_has_template pipeline_parameter_unmapped pipeline_parameter_unknown pipeline_parameter_type_mismatch pipeline_output_on_sideeffect_child calculator_node_incomplete calculator_fields_on_non_calculator calculator_node_has_sql_fields calculator_unknown calculator_input_missing calculator_input_unknown calculator_input_type_mismatch calculator_input_unordered calculator_output_collision calculator_output_name_invalid calculator_output_shape_mismatch calculator_output_unknown calculator_outputs_incomplete node_query_timeout_invalid pipeline_query_timeout_invalid statement_type_mismatch tempdb_input_unordered check_invalid door_unacknowledged table_not_learned',
    ),
  ],
  [
    '03 §10',
    409,
    codes(
      'pipeline.',
      'validation.duplicate_name import.version_conflict import.context_key_missing execution.not_running check.failed',
    ),
  ],
  [
    '03 §10',
    400,
    codes(
      'pipeline.',
      'import.missing_datasource import.missing_template import.hash_mismatch execution.parameter_required execution.invalid_parameter_type execution.parameter_constraint_violation execution.calculator_keys_partial execution.template_unrendered node.standalone_execution_refused',
    ),
  ],
  ['03 §10', 404, codes('pipeline.', 'execution.not_found node.not_found')],
  ['03 §10', 429, ['pipeline.execution.concurrency_limit']],
  ['03 §10', 503, ['pipeline.execution.cancel_unavailable']],
  ['03 §10', 504, codes('pipeline.', 'execution.timeout node.timeout node.query_timeout')],
  [
    '03 §10',
    502,
    codes(
      'pipeline.',
      'execution.datasource_unreachable node.datasource_connection_failed node.query_execution_failed',
    ),
  ],
  [
    '03 §10',
    500,
    codes(
      'pipeline.',
      'execution.aborted node.template_not_found node.template_render_failed node.datasource_not_found node.datasource_readonly node.staging_failed node.writeback_failed node.writeback_target_missing node.child_execution_failed node.composition_depth_exceeded node.calculator_failed node.sql_parameter_missing staging.value_overflow staging.precision_overflow staging.engine_unavailable staging.creation_failed staging.cleanup_failed staging.memory_limit_exceeded staging.invalid_column_name staging.table_already_exists',
    ),
  ],
  [
    '03 §10',
    null,
    codes(
      '',
      'pipeline.execution.instance_lost type_mapping.unknown_source_type type_mapping.sql_variant type_mapping.value_unrepresentable pipeline.warning.unknown_field pipeline.warning.tempdb_engine_substituted',
    ),
  ],
  [
    '05 §15',
    409,
    ['pipeline', 'template'].flatMap((family) =>
      codes(`${family}.version.`, 'conflict not_draft not_released not_discarded last_release not_eligible'),
    ),
  ],
  [
    '05 §15',
    409,
    codes(
      '',
      'pipeline.version.pinned pipeline.release.template_not_released template.release.import_not_released pipeline.promotion.not_released pipeline.promotion.not_newer pipeline.promotion.missing_datasources pipeline.promotion.target_is_authoring',
    ),
  ],
  ['03 §10', 400, codes('', 'pipeline.version.confirm_mismatch template.version.confirm_mismatch')],
  ['05 §15', 403, codes('', 'pipeline.authoring.disabled template.authoring.disabled')],
  ['05 §15', 502, ['pipeline.promotion.target_unreachable']],
  [
    '04 §13',
    401,
    codes(
      'auth.',
      'api_key.missing api_key.invalid api_key.expired session.invalid session.expired login.bad_credentials promotion.key_invalid',
    ),
  ],
  [
    '04 §13',
    403,
    codes(
      'auth.',
      'scope.insufficient role_required key_issuer_role_lost csrf.invalid session.required login.domain_not_allowed login.user_inactive login.locked login.identity_mismatch password.change_required',
    ),
  ],
  [
    '04 §13',
    400,
    codes(
      'auth.',
      'api_key.expiry_invalid key_scope_unavailable scope.unknown user.email_invalid password.policy_violation password.current_invalid password.reset_invalid',
    ),
  ],
  ['04 §13', 404, codes('auth.', 'key_workspace_inactive user.not_found api_key.not_found')],
  ['04 §13', 409, codes('auth.', 'user.email_taken user.last_super_admin password.no_local_account')],
  ['04 §13', 500, ['auth.login.oidc_error']],
  [
    '06 §14',
    400,
    codes(
      'datasource.validation.',
      'name_invalid dialect_invalid jdbc_url_malformed jdbc_url_scheme_invalid password_missing properties_invalid property_empty query_timeout_invalid workspace_forbidden lake_dialect_required lake_namespace_invalid lake_name_invalid lake_format_invalid lake_location_invalid lake_manifest_url_forbidden lake_table_unreadable',
    ),
  ],
  ['04 §12', 400, ['datasource.validation.host_forbidden']],
  ['08 §11', 404, ['playbook.not_found']],
  [
    '06 §14',
    409,
    codes(
      '',
      'datasource.validation.duplicate_name datasource.in_use datasource.lake_table_duplicate semantics.duplicate',
    ),
  ],
  [
    '06 §14',
    404,
    codes(
      '',
      'datasource.not_found datasource.grant_required datasource.table_not_found datasource.lake_table_not_found semantics.not_found mcp.doc_not_found',
    ),
  ],
  ['06 §11 †', 409, ['semantics.too_many_facts']],
  ['06 §14', 403, ['datasource.table_forbidden']],
  [
    '06 §14',
    400,
    codes(
      '',
      'datasource.driver_not_loaded semantics.kind_invalid semantics.fact_invalid semantics.ref_unresolved semantics.ref_mismatch semantics.evidence_refused semantics.evidence_failed',
    ),
  ],
  ['06 §14', 500, ['datasource.lease_in_transaction']],
  ['06 §14', 502, ['datasource.lake.table_unavailable']],
  [
    '05 §1–§8',
    400,
    codes(
      'template.validation.',
      'syntax_error dangerous_construct id_invalid new_root_requires_confirmation dialect_invalid dialect_not_allowed type_invalid type_immutable html_entity engine_unsupported schema_version_unsupported is_library_without_macros import_not_found import_not_library import_cycle import_depth_exceeded duplicate_alias parameter_interpolated',
    ),
  ],
  ['05 §15', 404, ['template.not_found']],
  ['05 §15', 409, codes('template.', 'in_use validation.duplicate_name')],
  ['03 §10', 404, ['result.execution_not_found']],
  ['03 §10', 409, ['result.execution_incomplete']],
  ['03 §10', 410, codes('result.', 'execution_failed expired')],
  ['03 §10', 400, ['result.format_unsupported']],
  ['02 §13', 500, codes('result.', 'too_large storage_unavailable')],
  ['03 §10', 429, codes('rate_limit.', 'exceeded unavailable')],
  ['03 §10', 409, codes('idempotency.', 'key_reused_for_different_request in_progress')],
  ['04 §13', 404, codes('workspace.', 'not_found inactive invitation.not_found')],
  ['04 §13', 403, codes('workspace.', 'membership_required session_required')],
  ['04 §13', 400, codes('workspace.', 'header_forbidden validation.name_invalid')],
  ['04 §13', 409, codes('workspace.', 'validation.duplicate_name last_admin in_use')],
  [
    '03 §10',
    400,
    codes(
      'endpoint.',
      'path_invalid path_variable_unknown request.invalid request.parameter_unknown request.parameter_repeated request.value_too_large',
    ),
  ],
  ['03 §10', 409, codes('endpoint.', 'path_conflict pipeline_not_readonly promotion.key_missing')],
  ['03 §10', 503, ['endpoint.pipeline_not_released']],
  ['03 §10', 404, ['endpoint.not_found']],
  ['03 §10', 405, ['endpoint.method_not_allowed']],
  ['03 §10', 406, ['endpoint.not_acceptable']],
  ['03 §10', 403, codes('endpoint.', 'key_not_bound key_kind_refused')],
  ['03 §10 †', 400, ['request.path_invalid']],
  ['decision 0006', 400, ['request.malformed']],
  ['decision 0006', 408, ['request.timeout']],
  ['decision 0006', 431, ['request.headers_too_large']],
  ['03 §10 †', 404, ['request.not_found']],
  ['03 §10 †', 405, ['request.method_not_allowed']],
  ['03 §10 †', 406, ['request.not_acceptable']],
  ['03 §10 †', 413, ['request.body_too_large']],
  ['03 §10 †', 414, ['request.uri_too_long']],
  ['03 §10 †', 415, ['request.unsupported_media_type']],
  [
    '03 §10 †',
    400,
    codes(
      'graphql.',
      'document_too_large too_deep too_complex too_many_aliases too_many_root_fields pagination_invalid cursor_invalid batching_disabled introspection_disabled operation_not_allowed',
    ),
  ],
  ['03 §10 †', 504, ['graphql.timeout']],
  ['03 §10 †', 500, ['internal']],
  ['03 §10 †', 503, ['server.draining', 'server.unavailable']],
];

const ALL = Object.keys(catalogue) as ErrorCode[];

describe('the error catalogue', () => {
  it.each(EXPECTED)('%s, status %s: has exactly the status the contract gives', (_source, status, expected) => {
    // Clients branch on status and code together; a moved status breaks them silently.
    for (const code of expected) expect([code, catalogue[code as ErrorCode]?.status]).toEqual([code, status]);
  });

  it('holds no code that no contract lists', () => {
    // A code invented in passing would be an undocumented part of the public surface for ever.
    expect([...ALL].sort()).toEqual(EXPECTED.flatMap(([, , list]) => list).sort());
  });

  it('gives every code a sentence of what happened and one of how to mend it', () => {
    // The fix is shown to people as it is; an empty or unfinished one helps nobody.
    for (const code of ALL) {
      const { title, fix, status } = catalogueEntry(code);
      expect([code, title]).toEqual([code, expect.stringMatching(/^[A-Z].{8,}\.$/)]);
      expect([code, fix]).toEqual([code, expect.stringMatching(/^[A-Z].{8,}\.$/)]);
      expect([code, status === null || (status >= 400 && status < 600)]).toEqual([code, true]);
      expect([code, /^[a-z]+(_[a-z]+)*(\.[a-z]+(_[a-z]+)*)*$/.test(code)]).toEqual([code, true]);
    }
  });

  it('lists every code in exactly one section of the reference', () => {
    // A section left out would drop its codes from the documentation `doc_url` points to.
    expect(CATALOGUE_SECTIONS.flatMap(({ codes: section }) => Object.keys(section)).sort()).toEqual([...ALL].sort());
  });
});
