import { flag, named, object, objects, optional, rowId, text, whole } from '../arguments.js';
import {
  CUT,
  list,
  OBJECT,
  OBJECT_OR_NULL,
  result,
  ROWS,
  SAVED,
  SCHEMA,
  TEXT,
  TEXT_OR_NULL,
  WHOLE,
  WHOLE_OR_NULL,
  YES_OR_NO,
} from '../result-schemas.js';
import { declare } from '../tool.js';

const id = rowId('Id of the pipeline (a UUID), as pipelines_list gives it beside the name.');
const version = optional(
  whole('Exactly this version; leave it out for the working version (the draft, else the current release).', {
    minimum: 1,
  }),
);
const parameters = optional(
  object('Values by the name of the declared parameter. Exact numbers may be sent as texts; a null counts as absent.'),
);

const document = {
  name: named(
    'Full path such as "sales/daily/orders": 2 to 10 segments of a-z, 0-9, "_", "-", "."; it is never changed later.',
  ),
  display_name: text('Title for people, 1 to 200 characters.'),
  nodes: objects(
    'The nodes of the graph: {id, type: DQL|DML|DDL|PIPELINE|CALCULATOR, source: <datasource name> or "tempdb", template: {id, version}, depends_on?: [node id], output?: {target: tempdb, table} | {target: caller} | {target: datasource, datasource, table, mode: replace|append}, settings?}. At most one node has output.target "caller": its rows are the result. docs_get "pipelines" has the whole form.',
  ),
  description: optional(text('What the pipeline is for.')),
  parameters: optional(
    object(
      'Declared parameters by name: {type: STRING|INTEGER|BIGINTEGER|DECIMAL|BIGDECIMAL|BOOLEAN|DATE|TIME|TIMESTAMP|BINARY, required?, default?, precision?, scale?, description?}.',
    ),
  ),
  settings: optional(object('Settings of the whole run, such as {query_timeout_seconds}.')),
  checks: optional(
    objects(
      'Checks that must pass before a release: {id, name, datasource, sql, expected, parameters?}, with expected {kind: "value", value, tolerance?}, {kind: "range", min, max} or {kind: "rows", rows}.',
    ),
  ),
} as const;

const summary = result(
  {
    id: TEXT,
    name: TEXT,
    display_name: TEXT,
    description: TEXT,
    version: WHOLE_OR_NULL,
    status: TEXT,
    updated_at: TEXT,
  },
  'id',
  'name',
);

const folder = result({ name: TEXT, path: TEXT, count: WHOLE }, 'name', 'count');

export const PIPELINE_TOOLS = {
  list: declare({
    name: 'pipelines_list',
    title: 'List pipelines',
    description:
      'Pipelines of the workspace with their working version. With "prefix" (even an empty one) it shows one level of the folder tree: its folders with how many pipelines each holds, and the pipelines that stand in it; the other filters then do not count.',
    operation: 'pipeline.read',
    arguments: {
      owner: optional(rowId('Id (a UUID) of the user who made them.')),
      datasource: optional(named('Name of a datasource that the working version reads or writes.')),
      q: optional(text('Part of the path, the title or the description, in any case.')),
      prefix: optional(named('Folder path such as "sales/daily"; empty for the top level.')),
      limit: optional(whole('Most entries, 50 by default, 200 at most.')),
    },
    result: result({ items: list(summary), ...CUT, prefix: TEXT, folders: list(folder) }, 'items'),
    wrappedAs: 'items',
    effect: 'reads',
  }),
  get: declare({
    name: 'pipelines_get',
    title: 'Read a pipeline',
    description:
      'The whole document of a pipeline with version, status and body_hash. Send that body_hash as expected_hash when you update. "draft" tells of a draft beside the version shown; "upgrade_available" names nodes whose template has a newer release; "inputs" lists what pipelines_execute may be given, with the keys of calculators as derived ones.',
    operation: 'pipeline.read',
    arguments: { id, version },
    result: result(
      {
        id: TEXT,
        name: TEXT,
        display_name: TEXT,
        description: TEXT,
        folder: TEXT,
        owner: TEXT,
        schema_version: WHOLE,
        version: WHOLE,
        status: TEXT,
        entity_status: TEXT,
        body_hash: TEXT,
        current_version: WHOLE_OR_NULL,
        version_stamps: OBJECT,
        created_at: TEXT,
        updated_at: TEXT,
        draft: OBJECT,
        upgrade_available: list(OBJECT),
        inputs: list(OBJECT),
        parameters: OBJECT,
        nodes: list(OBJECT),
        checks: list(OBJECT),
        settings: OBJECT,
      },
      'id',
      'name',
      'version',
      'status',
      'body_hash',
    ),
    target: 'id',
    effect: 'reads',
  }),
  execute: declare({
    name: 'pipelines_execute',
    title: 'Run a pipeline',
    description:
      'Runs a version (drafts too) and waits for its end: status, node statistics and the first rows of the result. What is left is read with executions_get_result. A run goes on when the client leaves; find it with executions_list. Send _meta.progressToken to be told about each node, and idempotency_key so that a repeated call attaches to the same run. A failed run is an error with the node, the SQL and what to change.',
    operation: 'pipeline.execute',
    arguments: {
      id,
      parameters,
      version,
      idempotency_key: optional(
        text('1 to 255 visible ASCII characters. The same key with the same request never runs twice within a day.'),
      ),
    },
    result: result(
      {
        execution_id: TEXT,
        pipeline_id: TEXT,
        status: TEXT,
        duration_ms: WHOLE_OR_NULL,
        node_stats: list(OBJECT),
        schema: SCHEMA,
        rows: ROWS,
        row_count: WHOLE,
        total_rows: WHOLE,
        has_more: YES_OR_NO,
        result_url: TEXT_OR_NULL,
        expires_at: TEXT_OR_NULL,
        ttl_seconds: WHOLE_OR_NULL,
        warnings: list(OBJECT),
        rows_omitted: YES_OR_NO,
        replayed: YES_OR_NO,
      },
      'execution_id',
      'pipeline_id',
      'status',
      'rows',
      'total_rows',
      'has_more',
    ),
    target: 'id',
    effect: 'runs',
  }),
  create: declare({
    name: 'pipelines_create',
    title: 'Create a pipeline draft',
    description:
      'Saves version 1 as a DRAFT after every rule has passed; a refusal lists all defects in error.details.failures with their place. A name under a new top-level folder needs confirm_new_root. A draft runs at once with pipelines_execute; people release it.',
    operation: 'pipeline.create',
    arguments: {
      ...document,
      confirm_new_root: optional(flag('True to make a new top-level folder on purpose.')),
    },
    result: SAVED,
    target: 'name',
    effect: 'creates',
  }),
  update: declare({
    name: 'pipelines_update',
    title: 'Write a pipeline draft',
    description:
      'Replaces the whole document: over a release it opens a new draft, over a draft it overwrites it. Leave nothing out: what is absent is gone. expected_hash is the body_hash you last read; a refusal pipeline.version.conflict tells the newer one.',
    operation: 'pipeline.update',
    arguments: { id, expected_hash: named('The body_hash of the version you read and changed.'), ...document },
    result: SAVED,
    target: 'id',
    effect: 'replaces',
  }),
};

export const CHECK_TOOLS = {
  run: declare({
    name: 'pipelines_run_checks',
    title: 'Run the checks of a pipeline',
    description:
      'Runs every declared check of a version now, read-only, and keeps each run in the history. A check that cannot be judged has the verdict "error" and a message. No runs at all means that the version declares no checks.',
    operation: 'pipeline.run_checks',
    arguments: { id, version, parameters },
    result: result(
      {
        version: WHOLE,
        runs: list(
          result(
            {
              check_id: TEXT,
              name: TEXT,
              expected: OBJECT_OR_NULL,
              observed: TEXT_OR_NULL,
              verdict: TEXT,
              message: TEXT_OR_NULL,
              ran_at: TEXT,
            },
            'check_id',
            'verdict',
          ),
        ),
      },
      'version',
      'runs',
    ),
    target: 'id',
    effect: 'creates',
  }),
};
