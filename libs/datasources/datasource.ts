import { isJsonObject, readJson, type JsonObject, type JsonValue } from '#libs/kernel';
import type { Dialect } from '#libs/typesystem';

import type { CredentialKind } from './credentials/credential-rules.js';
import { matchesAny, SERVER_MANAGED } from './properties/hikari.js';

export interface ConnectionTestOutcome {
  /** Database stamp with microseconds. */
  testedAt: string;
  ok: boolean;
  message: string | null;
}

/** `properties` of a datasource: `hikari` for the pool, `jdbc` for the driver, `dialect` for the lake. */
export interface DatasourceProperties {
  hikari: ReadonlyMap<string, JsonValue>;
  jdbc: ReadonlyMap<string, JsonValue>;
  dialect: ReadonlyMap<string, JsonValue>;
  /** As stored, without what the server manages; for the wire. */
  stored: JsonObject;
}

/** A live datasource without its secret. */
export interface DatasourceRecord {
  name: string;
  displayName: string;
  description: string | null;
  dialect: Dialect;
  jdbcUrl: string;
  username: string | null;
  credentialKind: CredentialKind;
  properties: DatasourceProperties;
  queryTimeoutSeconds: number | null;
  includeSchemas: readonly string[];
  /** Null = an instance datasource. */
  ownerWorkspaceId: string | null;
  ownerWorkspace: string | null;
  isReadonly: boolean;
  lastTest: ConnectionTestOutcome | null;
  createdBy: string;
  createdAt: string;
  updatedAt: string;
  /** Whether the workspace it was read for holds a grant. */
  granted: boolean;
}

export interface DatasourceRecordRow {
  name: string;
  display_name: string;
  description: string | null;
  dialect: Dialect;
  jdbc_url: string;
  username: string | null;
  credential_kind: CredentialKind;
  properties_json: string;
  query_timeout_seconds: number | null;
  introspection_include_schemas_json: string;
  owner_workspace_id: string | null;
  owner_workspace: string | null;
  is_readonly: boolean;
  last_test_at: string | null;
  last_test_ok: boolean | null;
  last_test_message: string | null;
  created_by: string;
  created_at: string;
  updated_at: string;
  granted: boolean;
}

export function recordOf(row: DatasourceRecordRow): DatasourceRecord {
  return {
    name: row.name,
    displayName: row.display_name,
    description: row.description,
    dialect: row.dialect,
    jdbcUrl: row.jdbc_url,
    username: row.username,
    credentialKind: row.credential_kind,
    properties: propertiesOf(readJson(row.properties_json)),
    queryTimeoutSeconds: row.query_timeout_seconds,
    includeSchemas: normalisedSchemas(readJson(row.introspection_include_schemas_json)),
    ownerWorkspaceId: row.owner_workspace_id,
    ownerWorkspace: row.owner_workspace,
    // A lake is read in place and never written (06 §6).
    isReadonly: row.is_readonly || row.dialect === 'LAKE',
    lastTest:
      row.last_test_at === null
        ? null
        : { testedAt: row.last_test_at, ok: row.last_test_ok ?? false, message: row.last_test_message },
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    granted: row.granted,
  };
}

/** Pool keys that the server manages are dropped on every read; an older row may hold some. */
export function propertiesOf(stored: JsonValue): DatasourceProperties {
  const whole: JsonObject = isJsonObject(stored) ? stored : {};
  const hikari = Object.entries(section(whole, 'hikari')).filter(([key]) => !matchesAny(key, SERVER_MANAGED));
  return {
    hikari: new Map(hikari),
    jdbc: new Map(Object.entries(section(whole, 'jdbc'))),
    dialect: new Map(Object.entries(section(whole, 'dialect'))),
    stored: 'hikari' in whole ? { ...whole, hikari: Object.fromEntries(hikari) } : { ...whole },
  };
}

function section(whole: JsonObject, name: string): JsonObject {
  const value = whole[name];
  return isJsonObject(value) ? value : {};
}

/** Trimmed, lower case, without blanks and repeats. */
export function normalisedSchemas(value: JsonValue): string[] {
  if (!Array.isArray(value)) return [];
  const names = value.flatMap((name) => (typeof name === 'string' ? [name.trim().toLowerCase()] : []));
  return [...new Set(names.filter((name) => name !== ''))];
}
