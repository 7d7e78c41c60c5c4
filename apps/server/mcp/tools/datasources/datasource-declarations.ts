import { DIALECTS } from '#libs/typesystem';
import { named, namespace, object, objects, optional, text, whole, word } from '../arguments.js';
import {
  list,
  OBJECT,
  OBJECT_OR_NULL,
  result,
  ROWS,
  SCHEMA,
  STAMPS,
  TEXT,
  TEXT_OR_NULL,
  WHOLE,
  WHOLE_OR_NULL,
  YES_OR_NO,
  listResult,
} from '../result-schemas.js';
import { declare } from '../tool.js';

const name = named('Name of the datasource, as datasources_list gives it.');
const table = named('Name of the table or view, spelt as datasources_get_tables lists it.');
const within = optional(
  namespace('Namespace as listed with the table: a list of names such as ["sales"], or one dotted text.'),
);
const schema = optional(named('Another word for a namespace of one name; "namespace" wins.'));

const datasource = result(
  {
    name: TEXT,
    display_name: TEXT,
    description: TEXT_OR_NULL,
    dialect: TEXT,
    jdbc_url: TEXT,
    credential: OBJECT,
    username: TEXT_OR_NULL,
    password_set: YES_OR_NO,
    query_timeout_seconds: WHOLE_OR_NULL,
    readonly: YES_OR_NO,
    introspection_include_schemas: list(TEXT),
    properties: OBJECT,
    ignored_properties: list(TEXT),
    workspace: TEXT_OR_NULL,
    granted: YES_OR_NO,
    last_test: OBJECT_OR_NULL,
    pool: OBJECT,
    facts: list(OBJECT),
    definitions: list(OBJECT),
    facts_truncated: YES_OR_NO,
    ...STAMPS,
  },
  'name',
  'dialect',
  'readonly',
);
const rows = { schema: SCHEMA, rows: ROWS, row_count: WHOLE, truncated: YES_OR_NO };

export const DATASOURCE_TOOLS = {
  list: declare({
    name: 'datasources_list',
    title: 'List datasources',
    description:
      'The databases and lakes this workspace may read, with dialect, whether they are read-only, and what is known of them as a whole ("facts", "definitions"). Start here.',
    operation: 'datasource.read',
    arguments: { dialect: optional(word('Only those of this dialect.', DIALECTS)) },
    result: listResult(datasource),
    wrappedAs: 'items',
    effect: 'reads',
  }),
  get: declare({
    name: 'datasources_get',
    title: 'Read a datasource',
    description: 'One datasource with its dialect, settings, last connection test and facts. Secrets are never shown.',
    operation: 'datasource.read',
    arguments: { name },
    result: datasource,
    target: 'name',
    effect: 'reads',
  }),
  test: declare({
    name: 'datasources_test',
    title: 'Test a connection',
    description:
      'Connects once, apart from the pool, and tells whether it worked, how long it took and the server version, or why it failed. For administrators of the workspace.',
    operation: 'datasource.test',
    arguments: { name },
    result: result(
      {
        connected: YES_OR_NO,
        tested_at: TEXT,
        latency_ms: WHOLE,
        server_version: TEXT,
        error: TEXT,
        error_class: TEXT,
      },
      'connected',
    ),
    target: 'name',
    effect: 'reads',
  }),
  schemas: declare({
    name: 'datasources_get_schemas',
    title: 'List the schemas of a datasource',
    description: 'The schemas a datasource has, system schemas left out, at most 2,000. Some dialects have none.',
    operation: 'datasource.introspect',
    arguments: { name },
    result: result({ schemas: list(TEXT), entries: list(OBJECT), truncated: YES_OR_NO }, 'schemas', 'truncated'),
    target: 'name',
    effect: 'reads',
  }),
  tables: declare({
    name: 'datasources_get_tables',
    title: 'List the tables of a datasource',
    description:
      'Tables and views of one namespace, or of all when none is given, at most 2,000, read live from the catalog, each with the facts recorded about it. A namespace that does not exist has no tables.',
    operation: 'datasource.introspect',
    arguments: { name, namespace: within, schema },
    result: result(
      {
        tables: list(
          result(
            {
              namespace: list(TEXT),
              schema: TEXT_OR_NULL,
              name: TEXT,
              type: TEXT,
              remarks: TEXT,
              partition_column: TEXT_OR_NULL,
              facts: list(OBJECT),
              facts_truncated: YES_OR_NO,
            },
            'name',
            'type',
          ),
        ),
        truncated: YES_OR_NO,
      },
      'tables',
      'truncated',
    ),
    target: 'name',
    effect: 'reads',
  }),
  columns: declare({
    name: 'datasources_get_columns',
    title: 'List the columns of a table',
    description:
      'Columns with canonical type, the type in the source, primary key position, references and facts. Read them before writing SQL: a misspelt table is answered with the nearest name.',
    operation: 'datasource.introspect',
    arguments: { name, table, namespace: within, schema },
    result: result(
      {
        columns: list(
          result(
            {
              name: TEXT,
              type: TEXT,
              precision: WHOLE,
              scale: WHOLE,
              source_type: TEXT,
              nullable: YES_OR_NO,
              primary_key: WHOLE,
              references: OBJECT,
              remarks: TEXT,
              warnings: list(TEXT),
              facts: list(OBJECT),
              facts_truncated: YES_OR_NO,
            },
            'name',
            'type',
          ),
        ),
      },
      'columns',
    ),
    wrappedAs: 'columns',
    target: 'name',
    effect: 'reads',
  }),
  statistics: declare({
    name: 'datasources_get_table_stats',
    title: 'Read what the database knows of a table',
    description:
      'Estimated rows, indexes and column statistics as the database itself keeps them; nothing is scanned. What is absent is unknown. Read it before joining or scanning a large table.',
    operation: 'datasource.read',
    arguments: { name, table, namespace: within },
    result: result(
      {
        row_estimate: WHOLE,
        stats_as_of: TEXT,
        stats_source: TEXT,
        indexes: list(OBJECT),
        columns: list(OBJECT),
        partition_column: TEXT_OR_NULL,
      },
      'stats_source',
      'indexes',
      'columns',
    ),
    target: 'name',
    effect: 'reads',
  }),
  preview: declare({
    name: 'datasources_preview_rows',
    title: 'Look at the first rows of a table',
    description:
      'The first rows of a table or view, read-only, at most 500. Names are checked against the catalog and quoted.',
    operation: 'datasource.probe',
    arguments: {
      name,
      table,
      namespace: within,
      schema,
      order_by: optional(
        objects('Columns to sort by, in order: {column, direction?: ASC|DESC}.', {
          items: {
            type: 'object',
            properties: { column: { type: 'string' }, direction: { type: 'string', enum: ['ASC', 'DESC'] } },
            required: ['column'],
            additionalProperties: false,
          },
          maxItems: 32,
        }),
      ),
      limit: optional(whole('Most rows, 50 by default, at most 500.', { minimum: 1, maximum: 500 })),
    },
    result: result(rows, 'schema', 'rows', 'row_count', 'truncated'),
    target: 'name',
    effect: 'reads',
  }),
  probe: declare({
    name: 'sql_probe',
    title: 'Run one reading statement',
    description:
      'Runs one SELECT or WITH on a datasource in a read-only transaction and shows its first rows and, where the dialect has one, its plan. Anything that could write is refused. Bind values as :name through "parameters". Staged tables ("tempdb") exist only inside a run: for those use pipelines_execute.',
    operation: 'datasource.probe',
    arguments: {
      name,
      sql: text('One statement that reads, at most 64 KiB; :name binds a parameter.', {
        minLength: 1,
        maxLength: 65_536,
      }),
      parameters: optional(
        object(
          'Values by name: {name: {type: STRING|INTEGER|BIGINTEGER|DECIMAL|BOOLEAN|DATE|TIME|TIMESTAMP|…, value}}.',
        ),
      ),
      limit: optional(whole('Most rows, 50 by default; more than 500 counts as 500.')),
      timeout_seconds: optional(whole('Seconds it may take, 10 by default; more than 30 counts as 30.')),
    },
    result: result(
      { ...rows, wall_ms: WHOLE_OR_NULL, plan: OBJECT_OR_NULL },
      'schema',
      'rows',
      'row_count',
      'truncated',
    ),
    target: 'name',
    effect: 'reads',
  }),
};
