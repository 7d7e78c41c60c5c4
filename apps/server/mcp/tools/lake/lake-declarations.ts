import { named, namespace, objects, optional, text, word } from '../arguments.js';
import { list, OBJECT, result, TEXT, TEXT_OR_NULL, WHOLE, YES_OR_NO } from '../result-schemas.js';
import { declare } from '../tool.js';

const name = named('Name of a LAKE datasource.');
const within = namespace('Namespace of the table: a list of names such as ["raw"], or one dotted text.');

export const LAKE_TOOLS = {
  register: declare({
    name: 'lake_tables_register',
    title: 'Register a lake table',
    description:
      'Makes files of a lake readable as a table. The files are read once before anything is stored; what cannot be read is refused with the reason. For authors of the workspace that owns the lake.',
    operation: 'lake_table.manage',
    arguments: {
      name,
      namespace: within,
      table: named('Name of the table: a-z, 0-9, "_" and "-".'),
      format: word('What the files are.', ['parquet', 'iceberg']),
      location: text('Where the files lie: s3://bucket/… or file:///…; a trailing "/" means the whole tree below.'),
      partition_column: optional(
        text('Column to filter by, where folders are named column=value; such columns are read in any case, as texts.'),
      ),
    },
    result: result(
      {
        id: TEXT,
        namespace: list(TEXT),
        name: TEXT,
        format: TEXT,
        location: TEXT,
        partition_column: TEXT_OR_NULL,
        last_error: TEXT_OR_NULL,
        last_error_at: TEXT_OR_NULL,
        registered_at: TEXT,
        registered_by: TEXT,
      },
      'id',
      'namespace',
      'name',
    ),
    target: 'name',
    effect: 'creates',
  }),
  import: declare({
    name: 'lake_tables_import',
    title: 'Register many lake tables',
    description:
      'Registers up to 500 tables from a list or from a manifest, all or none; what is registered already is left alone and counted.',
    operation: 'lake_table.manage',
    arguments: {
      name,
      tables: optional(objects('The tables: {name, format, location or path, partition_column?, namespace?}.')),
      manifest_url: optional(
        text(
          'Where a manifest lies, instead of "tables": s3://bucket/key, entered with the credential of the lake; or an address at its endpoint, and for a lake without one https on an S3 host of AWS.',
        ),
      ),
      namespace: optional(within),
      publish_prefix: optional(text('What stands before the "path" of each table, such as s3://bucket/published.')),
    },
    result: result(
      {
        registered: list(OBJECT),
        registered_count: WHOLE,
        already_registered: list(OBJECT),
        already_registered_count: WHOLE,
      },
      'registered_count',
      'already_registered_count',
    ),
    target: 'name',
    effect: 'creates',
  }),
  unregister: declare({
    name: 'lake_tables_unregister',
    title: 'Take a lake table out of the registry',
    description: 'Forgets a lake table; its files stay as they are. Nodes that name it fail from then on.',
    operation: 'lake_table.manage',
    arguments: { name, namespace: within, table: named('Name of the table.') },
    result: result({ namespace: list(TEXT), table: TEXT, unregistered: YES_OR_NO }, 'table', 'unregistered'),
    target: 'name',
    effect: 'replaces',
  }),
};
