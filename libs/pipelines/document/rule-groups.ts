import type { ErrorCode } from '#libs/kernel';

/** The rules of a pipeline document by group, in the order their failures are reported (contract 01 §10). */
export const RULE_GROUPS = {
  structure: [
    'pipeline.validation.schema_version_unsupported',
    'pipeline.validation.name_invalid',
    'pipeline.validation.duplicate_name',
    'pipeline.execution.invalid_parameter_type',
    'pipeline.validation.invalid_identifier',
    'pipeline.validation.reserved_identifier',
    'pipeline.validation.duplicate_node_id',
    'pipeline.validation.duplicate_output_table',
    'pipeline.validation.forbidden_env_specific_value',
  ],
  graph: [
    'pipeline.validation.empty_pipeline',
    'pipeline.validation.pipeline_too_large',
    'pipeline.validation.dangling_dependency',
    'pipeline.validation.cycle_detected',
  ],
  caller: ['pipeline.validation.multiple_caller_nodes'],
  node: [
    'pipeline.validation.type_invalid',
    'pipeline.validation.dml_has_output',
    'pipeline.validation.ddl_has_output',
    'pipeline.validation.output_target_invalid',
    'pipeline.validation.output_table_missing',
    'pipeline.validation.output_datasource_missing',
    'pipeline.validation.output_mode_invalid',
    'pipeline.validation.statement_type_mismatch',
    'pipeline.validation.tempdb_input_unordered',
  ],
  datasource: ['pipeline.validation.unknown_datasource', 'pipeline.validation.datasource_readonly'],
  template: [
    'pipeline.validation.template_not_found',
    'pipeline.validation.template_version_not_found',
    'pipeline.validation.template_type_mismatch',
    'pipeline.validation.template_dialect_mismatch',
    'pipeline.validation.template_parameter_undeclared',
    'pipeline.validation.template_render_failed',
    'template.validation.parameter_interpolated',
  ],
  parameters: [
    'pipeline.validation.parameter_name_invalid',
    'pipeline.validation.parameter_type_invalid',
    'pipeline.validation.parameter_precision_missing',
    'pipeline.validation.parameter_scale_missing',
    'pipeline.validation.conflicting_required_default',
    'pipeline.validation.default_type_mismatch',
  ],
  settings: [
    'pipeline.validation.tempdb_engine_unsupported',
    'pipeline.validation.tempdb_config_invalid',
    'pipeline.validation.node_timeout_invalid',
    'pipeline.validation.node_query_timeout_invalid',
    'pipeline.validation.pipeline_query_timeout_invalid',
  ],
  composition: [
    'pipeline.validation.pipeline_not_found',
    'pipeline.validation.pipeline_version_not_found',
    'pipeline.validation.pipeline_reference_not_released',
    'pipeline.validation.pipeline_reference_deleted',
    'pipeline.validation.pipeline_self_reference',
    'pipeline.validation.pipeline_node_has_source',
    'pipeline.validation.pipeline_node_has_template',
    'pipeline.validation.pipeline_parameter_unmapped',
    'pipeline.validation.pipeline_parameter_unknown',
    'pipeline.validation.pipeline_parameter_type_mismatch',
    'pipeline.validation.pipeline_output_on_sideeffect_child',
    'pipeline.validation.composition_too_deep',
  ],
  calculator: [
    'pipeline.validation.calculator_node_incomplete',
    'pipeline.validation.calculator_fields_on_non_calculator',
    'pipeline.validation.calculator_node_has_sql_fields',
    'pipeline.validation.calculator_unknown',
    'pipeline.validation.calculator_input_missing',
    'pipeline.validation.calculator_input_unknown',
    'pipeline.validation.calculator_input_type_mismatch',
    'pipeline.validation.calculator_input_unordered',
    'pipeline.validation.calculator_output_collision',
    'pipeline.validation.calculator_output_name_invalid',
    'pipeline.validation.calculator_output_shape_mismatch',
    'pipeline.validation.calculator_output_unknown',
    'pipeline.validation.calculator_outputs_incomplete',
  ],
  checks: ['pipeline.validation.check_invalid'],
} as const satisfies Record<string, readonly ErrorCode[]>;

const ORDER: ReadonlyMap<ErrorCode, number> = new Map(
  Object.values(RULE_GROUPS).flatMap((codes, group) =>
    codes.map((code: ErrorCode): [ErrorCode, number] => [code, group]),
  ),
);

/** Rank of a code's group; a code outside the table ranks last. */
export function groupOf(code: ErrorCode): number {
  return ORDER.get(code) ?? Object.keys(RULE_GROUPS).length;
}
