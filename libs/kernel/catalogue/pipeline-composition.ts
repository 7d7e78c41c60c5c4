import type { CatalogueEntry } from './entry.js';

/** `pipeline.validation.*` for PIPELINE and CALCULATOR nodes (contract 01 §7, §8, §10). */
export const pipelineCompositionCodes = {
  'pipeline.validation.composition_too_deep': {
    status: 400,
    title: 'Pipelines call each other more levels deep than allowed.',
    fix: 'Flatten the composition to the depth given in the details.',
  },
  'pipeline.validation.pipeline_not_found': {
    status: 400,
    title: 'A PIPELINE node refers to a pipeline that does not exist.',
    fix: 'Correct the reference, or create and release the child first.',
  },
  'pipeline.validation.pipeline_version_not_found': {
    status: 400,
    title: 'A PIPELINE node refers to a version that does not exist.',
    fix: 'Point the node to an existing released version of the child.',
  },
  'pipeline.validation.pipeline_reference_not_released': {
    status: 400,
    title: 'A PIPELINE node refers to a version that is not released.',
    fix: 'Release the child version or point the node to a released one.',
  },
  'pipeline.validation.pipeline_reference_deleted': {
    status: 400,
    title: 'A PIPELINE node refers to a pipeline whose every version is discarded.',
    fix: 'Restore a version of the child, or refer to another pipeline.',
  },
  'pipeline.validation.pipeline_self_reference': {
    status: 400,
    title: 'A PIPELINE node calls the pipeline it belongs to.',
    fix: 'Remove the node; a pipeline cannot call itself.',
  },
  'pipeline.validation.pipeline_node_has_source': {
    status: 400,
    title: 'A PIPELINE node names a source.',
    fix: 'Remove "source"; the child knows its own datasources.',
  },
  'pipeline.validation.pipeline_node_has_template': {
    status: 400,
    title: 'A PIPELINE node names a template.',
    fix: 'Remove "template"; the child brings its own.',
  },
  'pipeline.validation.pipeline_parameter_unmapped': {
    status: 400,
    title: 'A required parameter of the child gets no value.',
    fix: 'Map the parameter in the node, or give it a default in the child.',
  },
  'pipeline.validation.pipeline_parameter_unknown': {
    status: 400,
    title: 'The node maps a parameter the child does not declare.',
    fix: 'Remove the mapping or correct the parameter name.',
  },
  'pipeline.validation.pipeline_parameter_type_mismatch': {
    status: 400,
    title: 'A mapped value has another type than the child parameter.',
    fix: 'Map a value of the type the child declares.',
  },
  'pipeline.validation.pipeline_output_on_sideeffect_child': {
    status: 400,
    title: 'The node stages the output of a child that returns no rows.',
    fix: 'Remove "output", or call a child with a caller node.',
  },
  'pipeline.validation.calculator_node_incomplete': {
    status: 400,
    title: 'A CALCULATOR node lacks its calculator, inputs or outputs.',
    fix: 'Add the fields named in the details.',
  },
  'pipeline.validation.calculator_fields_on_non_calculator': {
    status: 400,
    title: 'A node of another type carries calculator fields.',
    fix: 'Remove the calculator fields, or set the node type to CALCULATOR.',
  },
  'pipeline.validation.calculator_node_has_sql_fields': {
    status: 400,
    title: 'A CALCULATOR node carries SQL fields.',
    fix: 'Remove "source", "template" and "output" from the node.',
  },
  'pipeline.validation.calculator_unknown': {
    status: 400,
    title: 'The calculator does not exist.',
    fix: 'Use one of the calculators of the catalogue listed in the details.',
  },
  'pipeline.validation.calculator_input_missing': {
    status: 400,
    title: 'A required calculator input is not given.',
    fix: 'Add the input named in the details.',
  },
  'pipeline.validation.calculator_input_unknown': {
    status: 400,
    title: 'The node gives an input the calculator does not have, or refers to an unknown value.',
    fix: 'Remove the input, or correct the reference named in the details.',
  },
  'pipeline.validation.calculator_input_type_mismatch': {
    status: 400,
    title: 'A calculator input has the wrong type.',
    fix: 'Give a value of the type named in the details.',
  },
  'pipeline.validation.calculator_input_unordered': {
    status: 400,
    title: 'A calculator reads a value of a node that is not sure to run before it.',
    fix: 'Add the producing node to "depends_on".',
  },
  'pipeline.validation.calculator_output_collision': {
    status: 400,
    title: 'Two values of the context would have the same name.',
    fix: 'Rename the calculator output.',
  },
  'pipeline.validation.calculator_output_name_invalid': {
    status: 400,
    title: 'A calculator output name breaks the naming rules or is reserved.',
    fix: 'Start with a lower-case letter or "_", use lower-case letters, digits and "_", 63 characters at most; "__name__" is reserved.',
  },
  'pipeline.validation.calculator_output_shape_mismatch': {
    status: 400,
    title: 'The node names its outputs in the wrong form for this calculator.',
    fix: 'Use the single form or the map form of the output as the reason in the details tells.',
  },
  'pipeline.validation.calculator_output_unknown': {
    status: 400,
    title: 'The node names an output the calculator does not have.',
    fix: 'Use the outputs the calculator declares.',
  },
  'pipeline.validation.calculator_outputs_incomplete': {
    status: 400,
    title: 'The node does not name every output of the calculator.',
    fix: 'Name the outputs listed in the details.',
  },
} satisfies Record<string, CatalogueEntry>;
