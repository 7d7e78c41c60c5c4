import type { CatalogueEntry } from './entry.js';

/** What can go wrong before, during and after a run (contracts 01 §11, 02 §13, 03 §10). */
export const executionCodes = {
  'pipeline.execution.not_found': {
    status: 404,
    title: 'There is no such execution or pipeline that you can see.',
    fix: 'Check the id and the workspace you act in.',
  },
  'pipeline.execution.not_running': {
    status: 409,
    title: 'The execution has already ended.',
    fix: 'Nothing needs to be stopped; read the execution for its outcome.',
  },
  'pipeline.execution.parameter_required': {
    status: 400,
    title: 'A required value is missing.',
    fix: 'Give the value named in the details.',
  },
  'pipeline.execution.invalid_parameter_type': {
    status: 400,
    title: 'A value or the request itself is not of the expected form.',
    fix: 'Correct the field named in the details; "reason" says what is wrong with it.',
  },
  'pipeline.execution.parameter_constraint_violation': {
    status: 400,
    title: 'A parameter value breaks a constraint of its declaration.',
    fix: 'Give a value within the constraint shown in the details.',
  },
  'pipeline.execution.calculator_keys_partial': {
    status: 400,
    title: 'Only some of the values a calculator produces were given by the caller.',
    fix: 'Give all outputs of the calculator, or none of them.',
  },
  'pipeline.execution.template_unrendered': {
    status: 400,
    title: 'The rendered SQL was not looked at before the run.',
    fix: 'Render the template first and read the SQL, then execute.',
  },
  'pipeline.execution.concurrency_limit': {
    status: 429,
    title: 'Too many executions are running.',
    fix: 'Wait until one of the running executions ends, then try again.',
  },
  'pipeline.execution.cancel_unavailable': {
    status: 503,
    title: 'The cancellation could not be delivered.',
    fix: 'Try again in a moment; the execution keeps running until then.',
  },
  'pipeline.execution.timeout': {
    status: 504,
    title: 'The execution ran longer than it may.',
    fix: 'Make the slow nodes faster, split the pipeline, or ask the operator to raise the execution timeout.',
  },
  'pipeline.execution.datasource_unreachable': {
    status: 502,
    title: 'A datasource could not be reached.',
    fix: 'Test the datasource; check its address, credentials and network.',
  },
  'pipeline.execution.aborted': {
    status: 500,
    title: 'The execution was stopped before it was finished.',
    fix: 'The reason in the details says who or what stopped it; run it again if it is still wanted.',
  },
  'pipeline.execution.instance_lost': {
    status: null,
    title: 'The server that ran the execution disappeared.',
    fix: 'Check what the pipeline had already written, then run it again.',
  },
  'pipeline.node.not_found': {
    status: 404,
    title: 'The pipeline has no node of this id.',
    fix: 'Use one of the node ids of the version you run.',
  },
  'pipeline.node.standalone_execution_refused': {
    status: 400,
    title: 'This node cannot run alone.',
    fix: 'Run the whole pipeline; the node reads what other nodes stage or write.',
  },
  'pipeline.node.timeout': {
    status: 504,
    title: 'A node ran longer than it may.',
    fix: 'Read less or faster in this node, or raise its timeout within the allowed bounds.',
  },
  'pipeline.node.query_timeout': {
    status: 504,
    title: 'A query ran longer than it may.',
    fix: 'Look at the plan of the query, add a filter or an index, or raise the query timeout.',
  },
  'pipeline.node.datasource_connection_failed': {
    status: 502,
    title: 'The connection to the datasource failed.',
    fix: 'Test the datasource; check its address, credentials and network.',
  },
  'pipeline.node.query_execution_failed': {
    status: 502,
    title: 'The database refused or failed the query.',
    fix: 'Read the database message in the details and correct the SQL of the node.',
  },
  'pipeline.node.template_not_found': {
    status: 500,
    title: 'The template version of the node is gone.',
    fix: 'Point the node to an existing template version and release the pipeline again.',
  },
  'pipeline.node.template_render_failed': {
    status: 500,
    title: 'The template of the node could not be rendered.',
    fix: 'Correct the template at the line and column in the details, or give the missing value.',
  },
  'pipeline.node.datasource_not_found': {
    status: 500,
    title: 'The datasource of the node is gone or no longer granted.',
    fix: 'Register or grant the datasource again, or point the node to another.',
  },
  'pipeline.node.datasource_readonly': {
    status: 500,
    title: 'The node writes to a datasource that is now read-only.',
    fix: 'Write to another datasource, or ask its owner to lift the read-only mark.',
  },
  'pipeline.node.staging_failed': {
    status: 500,
    title: 'The rows of the node could not be staged.',
    fix: 'The cause in the details names the column or limit; correct the query of the node.',
  },
  'pipeline.node.writeback_failed': {
    status: 500,
    title: 'Writing the rows into the target datasource failed.',
    fix: 'Read the database message in the details; check columns, types and constraints of the target table.',
  },
  'pipeline.node.writeback_target_missing': {
    status: 500,
    title: 'The target table of the node does not exist.',
    fix: 'Create the table in the target datasource, or correct "output.table".',
  },
  'pipeline.node.child_execution_failed': {
    status: 500,
    title: 'The pipeline called by this node failed.',
    fix: 'Open the child execution named in the details and mend what failed there.',
  },
  'pipeline.node.composition_depth_exceeded': {
    status: 500,
    title: 'Pipelines called each other more levels deep than allowed.',
    fix: 'Flatten the composition; a child was changed after this pipeline was saved.',
  },
  'pipeline.node.calculator_failed': {
    status: 500,
    title: 'A calculator could not compute its outputs from these inputs.',
    fix: 'Check the input values named in the details against the rules of the calculator.',
  },
  'pipeline.node.sql_parameter_missing': {
    status: 500,
    title: 'The SQL binds a name for which there is no value.',
    fix: 'Declare the parameter, or correct the ":name" in the template.',
  },
  'pipeline.staging.value_overflow': {
    status: 500,
    title: 'A value does not fit the type of its staged column.',
    fix: 'Cast the column named in the details to a wider type in the SQL of the node.',
  },
  'pipeline.staging.precision_overflow': {
    status: 500,
    title: 'A decimal has more digits than a staged column can hold exactly.',
    fix: 'Cast or round the column named in the details to at most 38 digits.',
  },
  'pipeline.staging.engine_unavailable': {
    status: 500,
    title: 'The staging engine cannot be used.',
    fix: 'Tell the operator; the details and the server log name the cause.',
  },
  'pipeline.staging.creation_failed': {
    status: 500,
    title: 'The staging area could not be created.',
    fix: 'Tell the operator; memory, disk or the spill directory may be exhausted.',
  },
  'pipeline.staging.cleanup_failed': {
    status: 500,
    title: 'The staging area could not be removed completely.',
    fix: 'Nothing to do for the caller; the operator should look at the spill directory.',
  },
  'pipeline.staging.memory_limit_exceeded': {
    status: 500,
    title: 'Staging needed more memory or disk than it may use.',
    fix: 'Stage fewer rows or columns (filter and aggregate in the source), or ask the operator to raise the limit.',
  },
  'pipeline.staging.invalid_column_name': {
    status: 500,
    title: 'A result column has a name that cannot be staged.',
    fix: 'Give the column a plain alias in the SQL of the node.',
  },
  'pipeline.staging.table_already_exists': {
    status: 500,
    title: 'The staged table exists already.',
    fix: 'Let every node write a table of its own.',
  },
  'type_mapping.unknown_source_type': {
    status: null,
    title: 'A column has a source type without an exact mapping; it is carried as text.',
    fix: 'Cast the column to a supported type in the SQL if you need another one.',
  },
  'type_mapping.sql_variant': {
    status: null,
    title: 'A column may hold values of different types; it is carried as text.',
    fix: 'Cast the column to one type in the SQL.',
  },
  'type_mapping.value_unrepresentable': {
    status: null,
    title: 'A value cannot be represented exactly in its type; NULL or text stands in its place.',
    fix: 'Cast or filter the value in the SQL of the node.',
  },
} satisfies Record<string, CatalogueEntry>;
