import { DIALECTS } from '#libs/typesystem';
import { flag, named, object, objects, optional, text, whole, word } from '../arguments.js';
import {
  CUT,
  list,
  OBJECT,
  orNull,
  result,
  SAVED,
  STAMPS,
  TEXT,
  TEXT_OR_NULL,
  WHOLE,
  WHOLE_OR_NULL,
  YES_OR_NO,
} from '../result-schemas.js';
import { declare } from '../tool.js';

const id = named('Name of the template, a path such as "sales/daily/orders.sql".');
const version = optional(
  whole('Exactly this version; leave it out for the working version (the draft, else the current release).', {
    minimum: 1,
  }),
);
const dialect = word(
  'Dialect the SQL is written for, needed for a new template; a node can use it on datasources of this dialect. "DUCKDB" for nodes whose source is tempdb.',
  DIALECTS,
);

const content = {
  display_name: text('Title for people, 1 to 200 characters.'),
  description: text('What the template selects or does, up to 10,000 characters.'),
  body: text(
    'SQL in the FreeMarker language: exactly one statement. Values are bound with :name, never written as ${name}; <#if name??> … </#if> makes a part optional. A library holds macros and no statement.',
  ),
  engine: optional(word('The template language.', ['freemarker'])),
  type: optional(word('What it renders to.', ['sql'])),
  imports: optional(objects('Libraries it uses: {id, version, alias}; macros are called as <@alias.macro/>.')),
  is_library: optional(flag('True for a library of macros, which other templates import.')),
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
    type: TEXT,
    dialect: TEXT_OR_NULL,
    is_library: orNull(YES_OR_NO),
  },
  'id',
);

export const TEMPLATE_TOOLS = {
  list: declare({
    name: 'templates_list',
    title: 'List templates',
    description:
      'Templates of the workspace with their working version. With "prefix" (even an empty one) it shows one level of the folder tree: its folders with how many templates each holds, and the templates that stand in it; the other filters then do not count.',
    operation: 'template.read',
    arguments: {
      dialect: optional(word('Only those of this dialect.', DIALECTS)),
      type: optional(word('Only those of this type; there is one.', ['sql'])),
      q: optional(text('Part of the path, the title or the description, in any case.')),
      prefix: optional(named('Folder path such as "sales/daily"; empty for the top level.')),
      is_library: optional(flag('Only libraries, or only what is none.')),
      limit: optional(whole('Most entries, 50 by default, 200 at most.')),
    },
    result: result(
      {
        items: list(summary),
        ...CUT,
        prefix: TEXT,
        folders: list(result({ name: TEXT, path: TEXT, count: WHOLE }, 'name')),
      },
      'items',
    ),
    wrappedAs: 'items',
    effect: 'reads',
  }),
  get: declare({
    name: 'templates_get',
    title: 'Read a template',
    description:
      'A template with its body, imports, status and body_hash. Send that body_hash as expected_hash when you update it. Nodes pin a template by id and version.',
    operation: 'template.read',
    arguments: { id, version },
    result: result(
      {
        id: TEXT,
        display_name: TEXT,
        description: TEXT,
        dialect: TEXT,
        engine: TEXT,
        type: TEXT,
        is_library: YES_OR_NO,
        imports: list(OBJECT),
        body: TEXT,
        folder: TEXT,
        schema_version: WHOLE,
        version: WHOLE,
        status: TEXT,
        entity_status: TEXT,
        version_stamps: OBJECT,
        ...STAMPS,
        body_hash: TEXT,
        current_version: WHOLE_OR_NULL,
        draft: OBJECT,
      },
      'id',
      'body',
      'version',
      'status',
      'body_hash',
    ),
    target: 'id',
    effect: 'reads',
  }),
  usedBy: declare({
    name: 'templates_used_by',
    title: 'Find who uses a template',
    description:
      'The pipelines whose working version pins this version of a template, node by node. Read it before changing what others build on.',
    operation: 'template.read',
    arguments: { id, version: whole('The version that is pinned.', { minimum: 1 }) },
    result: result(
      {
        references: list(
          result(
            {
              pipeline: TEXT,
              pipeline_id: TEXT,
              node_id: TEXT,
              pipeline_version: WHOLE,
              pipeline_version_status: TEXT,
            },
            'pipeline_id',
            'node_id',
          ),
        ),
        pipeline_count: WHOLE,
      },
      'references',
      'pipeline_count',
    ),
    target: 'id',
    effect: 'reads',
  }),
  create: declare({
    name: 'templates_create',
    title: 'Create a template draft',
    description:
      'Saves version 1 as a DRAFT; pipelines can pin a draft at once. Syntax errors come with line and column. Without an id it gets a name in test/. A name under a new top-level folder needs confirm_new_root.',
    operation: 'template.create',
    arguments: {
      ...content,
      id: optional(id),
      dialect: optional(dialect),
      confirm_new_root: optional(flag('True to make a new top-level folder on purpose.')),
    },
    result: SAVED,
    target: 'id',
    effect: 'creates',
  }),
  update: declare({
    name: 'templates_update',
    title: 'Write a template draft',
    description:
      'Replaces the whole template: over a release it opens a new draft, over a draft it overwrites it. The dialect cannot change. expected_hash is the body_hash you last read; a refusal template.version.conflict tells the newer one.',
    operation: 'template.update',
    arguments: {
      id,
      expected_hash: named('The body_hash of the version you read and changed.'),
      ...content,
      dialect: optional(dialect),
    },
    result: SAVED,
    target: 'id',
    effect: 'replaces',
  }),
  render: declare({
    name: 'templates_render',
    title: 'Render a template',
    description:
      'What a template becomes with these values, as SQL text. Nothing runs. Use it to see both sides of a condition before a node runs.',
    operation: 'template.render',
    arguments: { id, context: object('Values by name, as a run would give them; {} for none.'), version },
    result: result({ sql: TEXT }, 'sql'),
    wrappedAs: 'sql',
    target: 'id',
    effect: 'reads',
  }),
  purgeDraft: declare({
    name: 'templates_purge_draft',
    title: 'Delete a template draft of yours',
    description:
      'Deletes a template that you made, that was never released and that no pipeline pins. It cannot be undone. Anything else is deleted by people.',
    operation: 'template.purge_draft',
    arguments: { id },
    result: result({ id: TEXT, purged: YES_OR_NO }, 'id', 'purged'),
    target: 'id',
    effect: 'replaces',
  }),
};
