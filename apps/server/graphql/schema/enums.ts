import { registerEnumType } from '@nestjs/graphql';
import type { FACT_KINDS, FactScope, FactTrust } from '#libs/semantics';

/**
 * Wire words with what they mean, as enum values: GraphQL spells them in upper case, resolvers see them as they are
 * (03 §9).
 */
function wireEnum<W extends string>(
  name: string,
  description: string,
  meanings: Readonly<Record<W, string>>,
): Record<string, W> {
  const words = Object.keys(meanings) as W[];
  const values = Object.fromEntries(words.map((word) => [word.toUpperCase(), word]));
  const valuesMap = Object.fromEntries(words.map((word) => [word.toUpperCase(), { description: meanings[word] }]));
  registerEnumType(values, { name, description, valuesMap });
  return values;
}

export const VersionStatusEnum = wireEnum('VersionStatus', 'Where a version is in its life.', {
  DRAFT: 'Being written; every save replaces it.',
  RELEASED: 'Unchangeable; can be run, pinned and made current.',
  DISCARDED: 'Released once and set aside; can be restored.',
});

export const EntityStatusEnum = wireEnum(
  'EntityStatus',
  'Whether a pipeline or template is still in use, derived from its versions.',
  {
    ACTIVE: 'At least one version is a draft or released.',
    DISCARDED: 'Every version has been set aside.',
  },
);

export const ExecutionStatusEnum = wireEnum('ExecutionStatus', 'How far a run got.', {
  RUNNING: 'Accepted and not ended yet.',
  SUCCESS: 'Every node ended well and the result is complete.',
  FAILED: 'A node failed; `error` says why.',
  ABORTED: 'Ended from outside: cancelled, left by its caller, or lost with its server.',
});

export const NodeStatusEnum = wireEnum('NodeStatus', 'How far one node of a run got.', {
  RUNNING: 'Begun and not ended yet.',
  SUCCESS: 'Its work is done and its rows are handed on.',
  FAILED: 'It failed for a reason of its own.',
  ABORTED: 'Ended from outside while it ran.',
});

export const ExecutionTriggerEnum = wireEnum('ExecutionTrigger', 'Through which door a run was started.', {
  UI: 'By a person who was signed in to the console.',
  REST: 'By a program with an API key.',
  MCP: 'By a model through the tool server.',
  PIPELINE: 'By a PIPELINE node of another run.',
  ENDPOINT: 'By a call of a published path.',
});

export const NodeTypeEnum = wireEnum('NodeType', 'What kind of work a node does.', {
  DQL: 'Reads rows with a template.',
  DML: 'Writes rows with a template and gives none.',
  DDL: 'Changes tables with a template and gives no rows.',
  PIPELINE: 'Runs a pinned version of another pipeline.',
  CALCULATOR: 'Computes values for the nodes behind it, without SQL.',
});

export const LogicalTypeEnum = wireEnum('LogicalType', 'The type of a value, whatever the engine calls it.', {
  NULL: 'A column of which only NULL was seen; no parameter has it.',
  BOOLEAN: 'True or false.',
  INTEGER: 'Whole number of 32 bits, a JSON number.',
  BIGINTEGER: 'Whole number of 64 bits, written as text.',
  DECIMAL: 'Number with a fixed precision and scale, exact.',
  BIGDECIMAL: 'Decimal number of any length, written as text.',
  STRING: 'Text.',
  BINARY: 'Bytes, as base64 text.',
  DATE: 'Calendar day without a zone: `2026-01-31`.',
  TIME: 'Time of day without a zone: `08:15:30.000000`.',
  TIMESTAMP: 'Moment in UTC to the microsecond: `2026-01-31T08:15:30.000000Z`.',
});

export const DialectEnum = wireEnum('Dialect', 'The engine behind a datasource, and so the SQL it takes.', {
  POSTGRES: 'PostgreSQL and what speaks its protocol.',
  ORACLE: 'Oracle Database.',
  MSSQL: 'Microsoft SQL Server.',
  MYSQL: 'MySQL and MariaDB.',
  H2: 'H2, in a process of its own.',
  DUCKDB: 'DuckDB, in a file or in memory.',
  SQLITE: 'SQLite, in a file.',
  LAKE: 'Files in buckets and folders, registered as tables and read by DuckDB.',
});

export const CredentialKindEnum = wireEnum('CredentialKind', 'What kind of secret connections log in with.', {
  password: 'User name with a password.',
  token: 'A token in place of a password.',
  private_key: 'User name with a private key in PEM.',
  service_account_json: 'The JSON file of a service account.',
  none: 'No secret: the database trusts whoever reaches it.',
});

export const ScopeEnum = wireEnum(
  'Scope',
  'What a user key may do; each one includes the ones before it in the order READ, EXECUTE, AUTHOR.',
  {
    read: 'Look at everything its owner may see.',
    execute: 'Start and cancel runs.',
    author: 'Write drafts, publish, and whatever else its owner may do with a key.',
  },
);

export const ApiKeyKindEnum = wireEnum('ApiKeyKind', 'What an API key may be used for.', {
  user: 'REST, GraphQL and the tool server, on behalf of its owner.',
  endpoint: 'Nothing but published paths it is bound to.',
  server: 'Nothing but receiving promotions from another deployment.',
});

export const CapabilityEnum = wireEnum('Capability', 'A right a person has in the active workspace.', {
  view: 'See what is in the workspace.',
  execute: 'Start runs and checks.',
  author: 'Write drafts, publish paths, make keys.',
  switch: 'Choose which release is current.',
  promote: 'Release, import and promote.',
  ws_admin: 'Manage members, datasources and the keys of others.',
  super_admin: 'Administer the whole deployment.',
});

export const LakeFormatEnum = wireEnum('LakeFormat', 'How the files of a lake table are laid out.', {
  parquet: 'Parquet files, one or a whole folder.',
  iceberg: 'An Iceberg table with its metadata.',
});

export const WriteSurfaceEnum = wireEnum('WriteSurface', 'The kind of credential something was written with.', {
  session: 'By a person who was signed in.',
  api_key: 'By a program over REST or GraphQL.',
  mcp: 'By a model through the tool server.',
});

export const FactScopeEnum = wireEnum('FactScope', 'Who sees a fact.', {
  DATASOURCE: 'Everybody who may use the datasource, in any workspace.',
  WORKSPACE: 'Only the workspace it was recorded in.',
} satisfies Record<FactScope, string>);

export const FactKindEnum = wireEnum('FactKind', 'What sort of knowledge a fact is.', {
  unit: 'What a number counts or measures, such as cents or kilometres.',
  time_zone: 'In which zone times without one are meant.',
  sampling: 'That a table holds only part of what happened, and which part.',
  grain: 'What one row stands for.',
  window: 'Which span of time a table covers.',
  enum_meaning: 'What a code in a column means.',
  join: 'How tables belong together where no foreign key says so.',
  caveat: 'What makes data misleading or incomplete.',
  format: 'How a text is built, such as a number with a check digit.',
  definition: 'What a team means by a term, such as active customer.',
  exclusion: 'What a team leaves out, such as test accounts.',
  preference: 'Which of several sources a team uses.',
} satisfies Record<keyof typeof FACT_KINDS, string>);

export const FactTrustEnum = wireEnum('FactTrust', 'How far a fact can be relied on.', {
  asserted: 'Somebody said so, without evidence.',
  observed: 'Recorded with a statement that was run and bears it out.',
  verified: 'A person vouched for it.',
  needs_review: 'The catalog changed since it was recorded.',
  stale: 'What it is about is no longer there.',
  retired: 'Taken back, or superseded by another fact.',
} satisfies Record<FactTrust, string>);

export const CheckVerdictEnum = wireEnum('CheckVerdict', 'What a check found.', {
  pass: 'Observed is what was expected.',
  fail: 'Observed is something else.',
  error: 'Nothing could be observed; the message says why.',
});

export const CheckViaEnum = wireEnum('CheckVia', 'What a check was run for, or through which door.', {
  mcp: 'By a model through the tool server.',
  rest: 'By a program with an API key.',
  ui: 'By a person who was signed in.',
  release: 'Before a release, as its condition.',
});

export const MailKindEnum = wireEnum('MailKind', 'Why a mail was sent.', {
  welcome: 'A new account, with the password for its first sign-in.',
  password_reset: 'A one-time password or a link to set a new one.',
  new_user: 'Tells the operators that an account was made.',
});

export const MailStatusEnum = wireEnum('MailStatus', 'What became of a mail.', {
  PENDING: 'Being handed to the mail server.',
  SENT: 'The mail server took it.',
  FAILED: 'The mail server refused it or was not there.',
});

export const OrderDirectionEnum = wireEnum('OrderDirection', 'Which end of an order comes first.', {
  ASC: 'Smallest or oldest first.',
  DESC: 'Largest or newest first.',
});

export const OrderFieldEnum = wireEnum('OrderField', 'What pipelines and templates can be ordered by.', {
  name: 'Folder path, by its characters.',
  created_at: 'Time of the first save.',
  updated_at: 'Time of the latest change.',
});

export const ExecutionOrderFieldEnum = wireEnum('ExecutionOrderField', 'What runs can be ordered by.', {
  started_at: 'Time the run was accepted.',
});
