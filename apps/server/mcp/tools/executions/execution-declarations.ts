import { named, object, optional, rowId, whole, word } from '../arguments.js';
import {
  list,
  listResult,
  OBJECT,
  OBJECT_OR_NULL,
  orNull,
  result,
  ROWS,
  SCHEMA,
  TEXT,
  TEXT_OR_NULL,
  WHOLE,
  WHOLE_OR_NULL,
  YES_OR_NO,
} from '../result-schemas.js';
import { declare } from '../tool.js';

const execution_id = rowId('Id of the run (a UUID), as pipelines_execute or executions_list gives it.');

const metadata = {
  execution_id: TEXT,
  pipeline_id: TEXT,
  pipeline_version: WHOLE,
  status: TEXT,
  triggered_via: TEXT,
  started_at: TEXT,
  completed_at: TEXT_OR_NULL,
  duration_ms: WHOLE_OR_NULL,
  failed_node_id: TEXT_OR_NULL,
  result_row_count: WHOLE_OR_NULL,
  result_size_bytes: WHOLE_OR_NULL,
  triggered_by: TEXT,
  correlation_id: TEXT_OR_NULL,
  parent_execution_id: TEXT_OR_NULL,
  parent_node_id: TEXT_OR_NULL,
  root_execution_id: TEXT,
  draft_run: YES_OR_NO,
};

export const EXECUTION_TOOLS = {
  list: declare({
    name: 'executions_list',
    title: 'List runs',
    description:
      'Runs of the workspace, newest first, without their statistics and errors: read those with executions_get.',
    operation: 'execution.read',
    arguments: {
      pipeline_id: optional(rowId('Only runs of this pipeline (a UUID).')),
      status: optional(word('Only runs in this state.', ['RUNNING', 'SUCCESS', 'FAILED', 'ABORTED'])),
      limit: optional(whole('Most entries, 50 by default, 200 at most.')),
    },
    result: listResult(result(metadata, 'execution_id', 'pipeline_id', 'status')),
    wrappedAs: 'items',
    effect: 'reads',
  }),
  get: declare({
    name: 'executions_get',
    title: 'Read a run',
    description:
      'One run with the statistics of each node and, if it failed, the error with its node, code and what to change. result_url and result_expires_at stand there while the rows are kept.',
    operation: 'execution.read',
    arguments: { execution_id },
    result: result(
      {
        ...metadata,
        parameters: OBJECT,
        error: OBJECT_OR_NULL,
        node_stats: orNull(list(OBJECT)),
        result_url: TEXT,
        result_expires_at: TEXT,
      },
      'execution_id',
      'status',
    ),
    target: 'execution_id',
    effect: 'reads',
  }),
  result: declare({
    name: 'executions_get_result',
    title: 'Read rows of a result',
    description:
      'A page of the rows of a successful run. Rows are kept for a while after the run (expires_at). A page over 1 MiB, and any format but json, is answered with a result_url to fetch by GET with the same key in DP-API-Key; one that begins with "/" is a path of this server.',
    operation: 'execution.result.read',
    arguments: {
      execution_id,
      offset: optional(whole('Rows to skip, 0 by default.')),
      limit: optional(whole('Most rows, 1,000 by default, 100,000 at most.')),
      format: optional(word('Rows here (json) or a link (csv); arrow is not offered.', ['json', 'csv', 'arrow'])),
    },
    result: result({
      execution_id: TEXT,
      schema: SCHEMA,
      rows: ROWS,
      row_count: WHOLE,
      offset: WHOLE,
      limit: WHOLE,
      total_rows: WHOLE,
      has_more: YES_OR_NO,
      expires_at: TEXT_OR_NULL,
      result_url: TEXT,
      format: TEXT,
      reason: TEXT,
    }),
    target: 'execution_id',
    effect: 'reads',
  }),
  cancel: declare({
    name: 'executions_cancel',
    title: 'Cancel a run',
    description:
      'Asks a run to stop that this very key started with pipelines_execute; executions_get tells when it has. Runs of others are cancelled by people.',
    operation: 'execution.cancel',
    arguments: { execution_id },
    result: result({ execution_id: TEXT, cancel_requested: YES_OR_NO }, 'execution_id', 'cancel_requested'),
    target: 'execution_id',
    effect: 'replaces',
  }),
};

export const TRIAL_TOOLS = {
  node: declare({
    name: 'pipelines_execute_node',
    title: 'Try one node',
    description:
      'Runs one SQL node of a version by itself on its datasource and shows up to 50 rows; nothing is staged or kept. Required parameters without a value get a stand-in, named in sampled_parameters. A DML or DDL node really runs, and needs every value. Nodes on tempdb run only inside a whole run.',
    operation: 'pipeline.execute_node',
    arguments: {
      pipeline_id: rowId('Id of the pipeline (a UUID), as pipelines_list gives it beside the name.'),
      node_id: named('Id of the node in the document.'),
      version: optional(whole('Exactly this version; leave it out for the working version.', { minimum: 1 })),
      parameters: optional(object('Values by the name of the declared parameter.')),
    },
    result: result(
      {
        version: WHOLE,
        status: TEXT,
        schema: SCHEMA,
        rows: ROWS,
        truncated: YES_OR_NO,
        sampled_parameters: list(TEXT),
        rows_affected: WHOLE,
      },
      'version',
      'status',
      'schema',
      'rows',
      'truncated',
      'sampled_parameters',
    ),
    target: 'pipeline_id',
    effect: 'runs',
  }),
};
