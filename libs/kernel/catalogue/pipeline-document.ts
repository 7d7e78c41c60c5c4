import type { CatalogueEntry } from './entry.js';

/** `pipeline.validation.*` for structure, graph, nodes, datasources, templates, parameters, settings (contract 01 §10). */
export const pipelineDocumentCodes = {
  'pipeline.validation.schema_version_unsupported': {
    status: 400,
    title: 'The document declares a schema version this server does not read.',
    fix: 'Set "schema_version" to 1 or leave it out.',
  },
  'pipeline.validation.name_invalid': {
    status: 400,
    title: 'The pipeline name is not a valid folder path.',
    fix: 'Use 2 to 10 segments joined by "/", each of lower-case letters, digits, "_", "-" and "." and starting with a letter or digit; 200 characters at most. A name never changes.',
  },
  'pipeline.validation.duplicate_name': {
    status: 409,
    title: 'Another pipeline of this workspace already has this name.',
    fix: 'Choose another name, or open the existing pipeline and change that one.',
  },
  'pipeline.validation.new_root_requires_confirmation': {
    status: 400,
    title: 'The name would open a new top-level folder.',
    fix: 'Use one of the existing root folders listed in the details, or repeat the call with "confirm_new_root": true.',
  },
  'pipeline.validation.duplicate_node_id': {
    status: 400,
    title: 'Two nodes have the same id.',
    fix: 'Give every node of the pipeline an id of its own.',
  },
  'pipeline.validation.duplicate_output_table': {
    status: 400,
    title: 'Two nodes write the same table of the same target.',
    fix: 'Give each node an output table of its own.',
  },
  'pipeline.validation.invalid_identifier': {
    status: 400,
    title: 'A node id or table name breaks the identifier rules.',
    fix: 'Use lower-case letters, digits and "_" only, 63 characters at most; the details name the place.',
  },
  'pipeline.validation.reserved_identifier': {
    status: 400,
    title: 'A node id or table name is reserved.',
    fix: 'Choose another name; "tempdb" and "__name__" are reserved.',
  },
  'pipeline.validation.forbidden_env_specific_value': {
    status: 400,
    title: 'The document contains a value that belongs to one environment only.',
    fix: 'Register the host, path or credential as a datasource and refer to it by name; a pipeline must run unchanged everywhere.',
  },
  'pipeline.validation.dangling_dependency': {
    status: 400,
    title: 'A node depends on a node that does not exist.',
    fix: 'Correct the id in "depends_on" or add the missing node.',
  },
  'pipeline.validation.cycle_detected': {
    status: 400,
    title: 'The nodes depend on each other in a circle.',
    fix: 'Remove one dependency of the circle shown in "details.cycle_path".',
  },
  'pipeline.validation.empty_pipeline': {
    status: 400,
    title: 'The pipeline has no node.',
    fix: 'Add at least one node.',
  },
  'pipeline.validation.pipeline_too_large': {
    status: 400,
    title: 'The pipeline has more nodes or parameters than allowed.',
    fix: 'Keep to 1000 nodes and 200 parameters; move a part into a pipeline of its own.',
  },
  'pipeline.validation.multiple_caller_nodes': {
    status: 400,
    title: 'More than one node returns rows to the caller.',
    fix: 'Let one node have the output target "caller" and give the others a table.',
  },
  'pipeline.validation.non_dql_caller_target': {
    status: 400,
    title: 'A node that returns no rows has the output target "caller".',
    fix: 'Only a DQL node can return rows to the caller; remove the output of the other.',
  },
  'pipeline.validation.type_invalid': {
    status: 400,
    title: 'The node type is unknown.',
    fix: 'Use one of the node types listed in the details.',
  },
  'pipeline.validation.dml_has_output': {
    status: 400,
    title: 'A DML node declares an output.',
    fix: 'Remove "output"; a DML node changes rows and returns none.',
  },
  'pipeline.validation.ddl_has_output': {
    status: 400,
    title: 'A DDL node declares an output.',
    fix: 'Remove "output"; a DDL node changes structure and returns no rows.',
  },
  'pipeline.validation.output_target_invalid': {
    status: 400,
    title: 'The output target is unknown.',
    fix: 'Use "tempdb", "caller" or "datasource".',
  },
  'pipeline.validation.output_table_missing': {
    status: 400,
    title: 'The output names no table.',
    fix: 'Add "output.table".',
  },
  'pipeline.validation.output_datasource_missing': {
    status: 400,
    title: 'The output writes to a datasource but names none.',
    fix: 'Add "output.datasource" with the name of a registered datasource.',
  },
  'pipeline.validation.output_mode_invalid': {
    status: 400,
    title: 'The output to a datasource names no valid mode.',
    fix: 'Set "mode" to "replace" (empty the table first) or "append".',
  },
  'pipeline.validation.statement_type_mismatch': {
    status: 400,
    title: 'The template does not hold exactly one statement of the kind the node declares.',
    fix: 'Keep one statement in the template, and give the node the type of that statement (DQL reads, DML changes rows, DDL changes structure).',
  },
  'pipeline.validation.tempdb_input_unordered': {
    status: 400,
    title: 'A node reads a staged table that no node before it is sure to have written.',
    fix: 'Add the writing node to "depends_on" of the reading one.',
  },
  'pipeline.validation.unknown_datasource': {
    status: 400,
    title: 'The document refers to a datasource this workspace does not see.',
    fix: 'Correct the name, register the datasource, or ask for a grant of it to this workspace.',
  },
  'pipeline.validation.datasource_readonly': {
    status: 400,
    title: 'A node would write to a datasource marked read-only.',
    fix: 'Write to another datasource, or ask its owner to lift the read-only mark.',
  },
  'pipeline.validation.template_not_found': {
    status: 400,
    title: 'A node refers to a template that does not exist.',
    fix: 'Correct the template id, or create the template first.',
  },
  'pipeline.validation.template_version_not_found': {
    status: 400,
    title: 'A node refers to a template version that does not exist or is discarded.',
    fix: 'Point the node to an existing version of the template.',
  },
  'pipeline.validation.template_dialect_mismatch': {
    status: 400,
    title: 'The template is written for another SQL dialect than the source of the node.',
    fix: 'Use a template of the dialect of the datasource (DUCKDB for tempdb).',
  },
  'pipeline.validation.template_type_mismatch': {
    status: 400,
    title: 'The template of the node is not an SQL template, or is a library.',
    fix: 'Point the node to a template of type "sql" that is not a library.',
  },
  'pipeline.validation.template_parameter_undeclared': {
    status: 400,
    title: 'A template uses a variable the pipeline does not provide.',
    fix: 'Declare the parameter in the pipeline, or give the variable a default in the template ("name!").',
  },
  'pipeline.validation.template_render_failed': {
    status: 400,
    title: 'A template could not be rendered with sample values.',
    fix: 'Correct the template at the line and column in the details.',
  },
  'pipeline.validation.parameter_type_invalid': {
    status: 400,
    title: 'A parameter declares an unknown type.',
    fix: 'Use one of the parameter types listed in the details.',
  },
  'pipeline.validation.parameter_name_invalid': {
    status: 400,
    title: 'A parameter name breaks the naming rules or is reserved.',
    fix: 'Start with a lower-case letter or "_", use lower-case letters, digits and "_", 63 characters at most; "__name__" is reserved.',
  },
  'pipeline.validation.parameter_precision_missing': {
    status: 400,
    title: 'A decimal parameter declares no valid precision.',
    fix: 'Add "precision" from 1 to 15; for more digits use the type BIGDECIMAL.',
  },
  'pipeline.validation.parameter_scale_missing': {
    status: 400,
    title: 'A decimal parameter declares no valid scale.',
    fix: 'Add "scale" from 0 to the precision.',
  },
  'pipeline.validation.conflicting_required_default': {
    status: 400,
    title: 'A required parameter declares a default.',
    fix: 'Remove "required" or the default.',
  },
  'pipeline.validation.default_type_mismatch': {
    status: 400,
    title: 'The default of a parameter is not a value of its type.',
    fix: 'Write the default in the wire form of the declared type.',
  },
  'pipeline.validation.tempdb_engine_unsupported': {
    status: 400,
    title: 'The staging engine named in the settings is not supported.',
    fix: 'Use "DUCKDB" ("H2" is accepted and means the same), or leave the setting out.',
  },
  'pipeline.validation.tempdb_config_invalid': {
    status: 400,
    title: 'The staging settings are not valid.',
    fix: 'Correct or remove the setting named in the details.',
  },
  'pipeline.validation.node_timeout_invalid': {
    status: 400,
    title: 'The node timeout is out of range.',
    fix: 'Use whole seconds within the bounds given in the details.',
  },
  'pipeline.validation.node_query_timeout_invalid': {
    status: 400,
    title: 'The query timeout of a node is out of range.',
    fix: 'Use whole seconds within the bounds given in the details.',
  },
  'pipeline.validation.pipeline_query_timeout_invalid': {
    status: 400,
    title: 'The query timeout in the pipeline settings is out of range.',
    fix: 'Use whole seconds within the bounds given in the details.',
  },
  'pipeline.validation.check_invalid': {
    status: 400,
    title: 'A release check is not well-formed.',
    fix: 'Correct the check at the path given in the details.',
  },
  'pipeline.validation.door_unacknowledged': {
    status: 400,
    title: 'The call does not confirm that the authoring guide was read.',
    fix: 'Read the authoring guide named in the details and repeat the call with its confirmation.',
  },
  'pipeline.validation.table_not_learned': {
    status: 400,
    title: 'The SQL reads a table nothing has been recorded about.',
    fix: 'Inspect the table and record what you learn, then save again.',
  },
} satisfies Record<string, CatalogueEntry>;
