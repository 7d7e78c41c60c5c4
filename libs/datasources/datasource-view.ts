import { toWireStamp, type JsonObject } from '#libs/kernel';

import type { CredentialKind } from './credentials/credential-rules.js';
import type { DatasourceRecord } from './datasource.js';
import type { DriverRegistry } from './drivers/registry.js';
import { IGNORED_POOL_KEYS, poolView, type PoolView } from './properties/hikari.js';

/** A datasource on every door (06 §1). A secret has no place in it. */
export interface DatasourceView {
  name: string;
  display_name: string;
  description: string | null;
  dialect: string;
  jdbc_url: string;
  credential: { kind: CredentialKind; username?: string };
  username: string | null;
  password_set: boolean;
  query_timeout_seconds: number | null;
  readonly: boolean;
  introspection_include_schemas?: readonly string[];
  properties: JsonObject;
  /** Owner's name; null = an instance datasource. */
  workspace: string | null;
  granted: boolean;
  last_test: { tested_at: string; ok: boolean; message: string | null } | null;
  pool: PoolView;
  ignored_properties: string[];
  facts: never[];
  definitions: never[];
  created_by: string;
  created_at: string;
  updated_at: string;
}

export function datasourceView(record: DatasourceRecord, drivers: DriverRegistry): DatasourceView {
  const { username, lastTest, includeSchemas, properties } = record;
  const driver = drivers.find(record.dialect);
  const configured = driver?.configure(record.jdbcUrl, properties.jdbc, properties.dialect);
  const ignored = configured?.ok === true ? configured.configured.ignored : [];
  return {
    name: record.name,
    display_name: record.displayName,
    description: record.description,
    dialect: record.dialect,
    jdbc_url: record.jdbcUrl,
    credential: { kind: record.credentialKind, ...(username === null ? {} : { username }) },
    username,
    password_set: record.credentialKind !== 'none',
    query_timeout_seconds: record.queryTimeoutSeconds,
    readonly: record.isReadonly,
    ...(includeSchemas.length > 0 ? { introspection_include_schemas: includeSchemas } : {}),
    properties: properties.stored,
    workspace: record.ownerWorkspace,
    granted: record.granted,
    last_test:
      lastTest === null
        ? null
        : { tested_at: toWireStamp(lastTest.testedAt), ok: lastTest.ok, message: lastTest.message },
    pool: poolView(properties.hikari, driver?.poolDefaults),
    ignored_properties: [...[...properties.hikari.keys()].filter((key) => IGNORED_POOL_KEYS.includes(key)), ...ignored],
    facts: [],
    definitions: [],
    created_by: record.createdBy,
    created_at: toWireStamp(record.createdAt),
    updated_at: toWireStamp(record.updatedAt),
  };
}
